from django.urls import path

from memory.review import bulk_views as bulk
from memory.review import digest_views as digests
from memory.review import merge_views as merges
from memory.review import reconfirm_views as reconfirm
from memory.review import views as review

urlpatterns = [
    path("review/", review.review, name="review"),
    path("review/count/", review.waiting_count, name="waiting-count"),
    path("review/decided/", review.recent, name="decided"),
    path("review/snoozed/", review.snoozed, name="snoozed"),
    path("review/digest/", digests.digest, name="digest"),
    path("review/digest/stop/<str:token>/", digests.stop, name="digest-stop"),
    path("reconfirm/", reconfirm.reconfirm, name="reconfirm"),
    path("reconfirm/<uuid:fact_id>/answer/", reconfirm.answer, name="reconfirm-answer"),
    path("reconfirm/<uuid:fact_id>/undo/", reconfirm.unanswer, name="reconfirm-undo"),
    path("review/bulk/", bulk.preview, name="bulk"),
    path("review/bulk/decide/", bulk.decide, name="bulk-decide"),
    path("review/merge/", merges.merge_selected, name="merge-selected"),
    path("review/<uuid:fact_id>/", review.candidate, name="candidate"),
    path("review/<uuid:fact_id>/around/", review.surroundings, name="around"),
    path("review/<uuid:fact_id>/confirm/", review.confirm, name="confirm"),
    path("review/<uuid:fact_id>/edit/", review.edit, name="edit"),
    path("review/<uuid:fact_id>/reject/", review.reject, name="reject"),
    path("review/<uuid:fact_id>/make-rule/", review.make_rule, name="make-rule"),
    path("review/<uuid:fact_id>/snooze/", review.snooze, name="snooze"),
    path("review/<uuid:fact_id>/merge/", merges.merge, name="merge"),
    path("review/<uuid:fact_id>/take-back/", review.take_back, name="take-back"),
]
