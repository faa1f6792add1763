from django.urls import path

from memory.cases import pages

urlpatterns = [
    path("cases/", pages.cases, name="cases"),
    path("cases/<uuid:case_id>/", pages.case, name="case"),
    path("cases/<uuid:case_id>/confirm/", pages.confirm, name="case-confirm"),
    path("cases/<uuid:case_id>/reject/", pages.reject, name="case-reject"),
    path("cases/<uuid:case_id>/take-back/", pages.take_back, name="case-take-back"),
    path("cases/<uuid:case_id>/forget/", pages.forget, name="case-forget"),
    path("cases/<uuid:case_id>/restore/", pages.restore, name="case-restore"),
]
