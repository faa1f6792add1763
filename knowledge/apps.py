from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from memory import vector_index

        if "knowledge_documentembedding" not in vector_index.TABLES:
            vector_index.TABLES.append("knowledge_documentembedding")
