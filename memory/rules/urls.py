from django.urls import path

from memory.rules import import_pages, pages

urlpatterns = [
    path("rules/", pages.rules, name="rules"),
    path("rules/new/", pages.new, name="rule-new"),
    path("rules/import/", import_pages.choose, name="rules-import"),
    path("rules/import/ticked/", import_pages.bring_in, name="rules-bring-in"),
    path(
        "rules/imports/<uuid:import_id>/take-out/",
        pages.take_import_out,
        name="rules-import-take-out",
    ),
    path("rules/<uuid:rule_id>/", pages.rule, name="rule"),
    path("rules/<uuid:rule_id>/reword/", pages.reword, name="rule-reword"),
    path("rules/<uuid:rule_id>/switch/", pages.switch, name="rule-switch"),
    path("rules/<uuid:rule_id>/move/", pages.shift, name="rule-move"),
    path("rules/<uuid:rule_id>/take-out/", pages.take_out, name="rule-take-out"),
    path("rules/<uuid:rule_id>/put-back/", pages.put_back, name="rule-put-back"),
    path("rules/<uuid:rule_id>/purge/", pages.purge, name="rule-purge"),
]
