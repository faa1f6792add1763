from django.urls import path
from django.views.generic import RedirectView

from memory.consolidation import urls as consolidation
from memory.pages import conversations, facts, recall, runs
from memory.review import urls as review

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="review"), name="home"),
    *review.urlpatterns,
    path("facts/", facts.facts, name="facts"),
    path("facts/<uuid:fact_id>/", facts.fact, name="fact"),
    path("facts/<uuid:fact_id>/correct/", facts.correct, name="fact-correct"),
    path("facts/<uuid:fact_id>/forget/", facts.forget, name="fact-forget"),
    path("facts/<uuid:fact_id>/restore/", facts.restore, name="fact-restore"),
    path("facts/<uuid:fact_id>/reconsider/", facts.reconsider, name="fact-reconsider"),
    path("facts/<uuid:fact_id>/pin/", facts.pin, name="fact-pin"),
    path("facts/<uuid:fact_id>/move/", facts.move, name="fact-move"),
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
    *consolidation.urlpatterns,
    path("recall/", recall.recall_page, name="recall"),
    path("runs/", runs.runs, name="runs"),
    path("runs/<uuid:run_id>/", runs.run, name="run"),
]
