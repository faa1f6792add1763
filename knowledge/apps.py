from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from knowledge import indexing, mcp, pins
        from knowledge.models import DocumentEmbedding
        from knowledge.pictures import tokens_by_day
        from knowledge.purging import Documents
        from knowledge.search.tier import TIER
        from memory import figures, reembed, vector_index
        from memory.purge import further
        from memory.recall import ahead
        from memory.search import tiers

        if "knowledge_documentembedding" not in vector_index.TABLES:
            vector_index.TABLES.append("knowledge_documentembedding")
        further.holders.append(Documents())
        mcp.register()
        tiers.register(TIER)
        figures.further_tokens.append(tokens_by_day)
        ahead.hints.append(ahead.Hint(pins.EXISTS, pins.lines))
        reembed.KINDS.append(
            reembed.Kind("documents", DocumentEmbedding, indexing.missing, indexing.embed_backlog)
        )
