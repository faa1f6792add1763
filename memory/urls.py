from django.urls import include, path
from django.views.generic import RedirectView

from memory.cases import urls as cases
from memory.consolidation import urls as consolidation
from memory.pages import (
    assistants,
    conversations,
    dashboard,
    dropped,
    entities,
    fact_list,
    fact_new,
    facts,
    imports,
    language_model,
    quarantine,
    recall,
    runs,
    sketches,
)
from memory.profile import urls as profile
from memory.review import urls as review
from memory.rules import urls as rules
from memory.webhooks import urls as webhooks

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="review"), name="home"),
    *review.urlpatterns,
    path("assistants/new/", assistants.new, name="assistant-new"),
    path("assistants/<uuid:agent_id>/", assistants.assistant, name="assistant"),
    path("assistants/<uuid:agent_id>/delete/", assistants.delete, name="assistant-delete"),
    path("language-model/", language_model.language_model, name="language-model"),
    path("language-model/ask/", language_model.ask, name="language-model-ask"),
    path("dashboard/", dashboard.dashboard, name="dashboard"),
    path("dashboard/retry-all/", dashboard.retry_all, name="retry-all"),
    path("dropped/", dropped.dropped, name="dropped"),
    path("facts/", fact_list.facts, name="facts"),
    path("facts/new/", fact_new.new_fact, name="fact-new"),
    path("facts/new/nearest/", fact_new.nearest, name="fact-nearest"),
    path("facts/<uuid:fact_id>/", facts.fact, name="fact"),
    path("facts/<uuid:fact_id>/correct/", facts.correct, name="fact-correct"),
    path("facts/<uuid:fact_id>/validity/", facts.set_validity, name="fact-validity"),
    path("facts/<uuid:fact_id>/forget/", facts.forget, name="fact-forget"),
    path("facts/<uuid:fact_id>/restore/", facts.restore, name="fact-restore"),
    path("facts/<uuid:fact_id>/reconsider/", facts.reconsider, name="fact-reconsider"),
    path("facts/<uuid:fact_id>/pin/", facts.pin, name="fact-pin"),
    path("facts/<uuid:fact_id>/move/", facts.move, name="fact-move"),
    path("", include("memory.pages.forget_urls")),
    path("entities/", entities.entities, name="entities"),
    path("entities/<uuid:entity_id>/", entities.entity, name="entity"),
    path(
        "entities/<uuid:entity_id>/merge/<uuid:other_id>/preview/",
        entities.merge_preview,
        name="entity-merge-preview",
    ),
    path("entities/<uuid:entity_id>/merge/<uuid:other_id>/", entities.merge, name="entity-merge"),
    path("entities/merges/<uuid:merge_id>/undo/", entities.unmerge, name="entity-unmerge"),
    path("conversations/", conversations.conversations, name="conversations"),
    path("conversations/<uuid:conversation_id>/", conversations.conversation, name="conversation"),
    path(
        "conversations/<uuid:conversation_id>/retry/",
        conversations.retry,
        name="conversation-retry",
    ),
    path(
        "conversations/<uuid:conversation_id>/skip/", conversations.skip, name="conversation-skip"
    ),
    path("sketches/<uuid:sketch_id>/keep/", sketches.keep, name="sketch-keep"),
    path("sketches/<uuid:sketch_id>/remove/", sketches.remove, name="sketch-remove"),
    path("imports/", imports.imports, name="imports"),
    path("imports/new/", imports.bring_in, name="import-new"),
    path("imports/<uuid:import_id>/", imports.import_page, name="import"),
    path("quarantine/<str:kind>/<uuid:source_id>/", quarantine.quarantine, name="quarantine"),
    path("quarantine/<str:kind>/<uuid:source_id>/undo/", quarantine.reinstate, name="reinstate"),
    *consolidation.urlpatterns,
    *cases.urlpatterns,
    *profile.urlpatterns,
    *webhooks.urlpatterns,
    *rules.urlpatterns,
    path("recall/", recall.recall_page, name="recall"),
    path("runs/", runs.runs, name="runs"),
    path("runs/<uuid:run_id>/", runs.run, name="run"),
]
