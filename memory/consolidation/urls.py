from django.urls import path

from memory.consolidation import views

urlpatterns = [
    path("consolidation/", views.runs, name="consolidation"),
    path("consolidation/preview/", views.preview, name="consolidation-preview"),
    path("consolidation/start/", views.start, name="consolidation-start"),
    path("consolidation/<uuid:run_id>/", views.run, name="consolidation-run"),
    path("consolidation/<uuid:run_id>/undo/", views.undo_all, name="consolidation-undo"),
    path("consolidation/<uuid:run_id>/continue/", views.continue_run, name="consolidation-go-on"),
    path(
        "consolidation/changes/<uuid:change_id>/undo/",
        views.undo_one,
        name="consolidation-undo-one",
    ),
    path(
        "consolidation/changes/<uuid:change_id>/merge/",
        views.merge_offer,
        name="consolidation-merge",
    ),
]
