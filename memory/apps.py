from django.apps import AppConfig
from django.db.models.signals import post_migrate


class MemoryConfig(AppConfig):
    name = "memory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from conversations import breadcrumbs, passages
        from conversations.signals import branch_left
        from conversations.sketches import writing
        from memory.branches import on_branch_left
        from memory.grants import restrict_application_role
        from memory.search import sketches, tiers
        from memory.sensitive import redact
        from memory.text import detect_language, language_config

        post_migrate.connect(restrict_application_role, sender=self)
        branch_left.connect(on_branch_left)
        # Conversations may not import memory, so memory tells them how to know a language and a
        # secret.
        passages.language_of = lambda text: language_config(detect_language(text))
        breadcrumbs.redact = writing.redact = redact
        tiers.register(sketches.TIER)
