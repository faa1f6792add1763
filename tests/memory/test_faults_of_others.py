"""What other memories were found to do wrong, and which test holds ours to the contrary.

Where the behaviour has a test elsewhere, FAULTS names it; the others are here.
"""
# ruff: noqa: E501 - a table is read by its lines

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django.fixtures import Settings

from agents.gate import memory_on
from agents.models import Agent, OwnerSettings
from conversations.models import Conversation
from memory.consolidation import archive_episodic, decay_semantic, demote_pending
from memory.models import Fact, Profile, ProfileCitation, ProfileSentence
from memory.vocabulary import State
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import ScriptedLlm
from tests.memory.extraction_cases import candidate, decided, observed, run_once, say

pytestmark = pytest.mark.django_db
TESTS = Path(__file__).resolve().parent.parent
DOCS = TESTS.parent / "docs"
HERE = "memory/test_faults_of_others.py"

FAULTS = {
    "Khoj": {
        "the corrector saw only what recall would show": "memory/test_run_rules.py::test_the_reflector_sees_what_only_the_meaning_connects",
        "nothing was compared before it was stored": "memory/test_run.py::test_equal_text_is_folded_without_asking_the_reflector",
        "a bad id in one update lost the others": f"{HERE}::test_a_handle_that_is_no_number_costs_no_other_update",
        "an edit was a deletion and a new fact": "memory/test_lifecycle_decisions.py::test_an_edited_confirmation_shows_the_whole_chain",
        "deleting left no tombstone and no trail": "memory/test_purge.py::test_a_tombstone_bars_it_from_coming_back",
        "assistants' words became facts of the owner's": "memory/test_policy_screen.py::test_somebody_elses_words_are_no_evidence",
        "pasted documents became facts of the owner's": "memory/test_policy_activation.py::test_one_reason_is_enough_to_wait",
        "a backfill ignored who had opted out": "memory/test_backfill.py::test_a_backfill_obeys_an_owner_who_switched_memory_off_or_never_said_yes",
        "a resumed backfill skipped what was left of an owner": "memory/test_backfill.py::test_a_stopped_run_goes_on_with_the_owners_other_conversations",
        "a zero deleted everything": "memory/test_purge_command.py::test_zero_empty_and_unknown_are_errors",
        "everything was deleted unasked": "memory/test_purge_command.py::test_everything_needs_the_name_twice",
        "a backfill extracted again what was read live": "memory/test_backfill.py::test_what_was_read_is_not_read_again",
        "a backfill read automations": "memory/test_backfill.py::test_automations_and_temporary_chats_are_left_alone",
        "what a backfill found looked fresh": "memory/test_backfill.py::test_what_it_finds_is_as_old_as_what_was_said",
        "choosing something else was taken for opting in": f"{HERE}::test_a_setting_of_another_kind_is_no_yes_to_memory",
        "an edit left its agent": "memory/test_database_chains.py::test_a_correction_keeps_the_scope_of_its_target",
        "an edit that failed half way lost the fact": "memory/test_lifecycle_decisions.py::test_a_step_that_fails_midway_changes_nothing",
        "a fact without a vector was lost": "memory/test_recall.py::test_a_fact_without_a_vector_is_found_by_its_words",
        "a conversation without an agent failed unseen": f"{HERE}::test_every_conversation_has_an_agent",
        "vectors of two models were compared": "memory/test_embedding.py::test_a_vector_of_another_model_is_no_vector_of_this_one",
        "a list came unordered and whole": "memory/test_pages_facts.py::test_it_pages_through_facts_without_a_gap",
        "switching memory off broke the pages": f"{HERE}::test_every_page_is_served_while_memory_is_off",
    },
    "Timothy": {
        "duplicates flooded the queue": "memory/test_consolidation_merge.py::test_proposals_never_flood_the_queue",
        "headers of digests came back as facts": "memory/test_run.py::test_a_digest_yields_its_discoveries_but_not_its_header",
        "the same rows faded every day": "memory/test_consolidation_stages.py::test_every_stale_fact_gets_its_turn",
        "confidence had no effect": "memory/test_consolidation_stages.py::test_a_faded_fact_counts_for_less_in_recall",
        "reconfirming was only a line in a log": "memory/test_reconfirm.py::test_only_what_faded_and_was_not_confirmed_since_is_asked_about",
        "a stage asked for what can't be": "memory/test_consolidation_stages.py::test_a_weak_candidate_leaves_after_60_days",
        "a machine's rejection suppressed the fact": "memory/test_consolidation_stages.py::test_a_duplicate_that_code_archived_suppresses_nothing",
        "a rejection was for ever": "memory/test_rejections_stick.py::test_a_person_takes_a_rejection_back",
        "nothing archived came back": "memory/test_lifecycle_upkeep.py::test_archiving_says_why_and_can_be_taken_back",
        "nothing could be erased": "memory/test_purge.py::test_a_dump_after_a_purge_holds_nothing_of_it",
        "two tabs left an orphan": "memory/test_lifecycle_decisions.py::test_of_two_tabs_one_wins_and_the_other_is_told",
        "a merge was active unseen, sure and fresh": "memory/test_consolidation_merge.py::test_a_merge_makes_nothing_fresh",
        "a merge lost a member's detail": "memory/test_consolidation_guard.py::test_a_text_that_loses_or_adds_something_may_not",
        "a merge sent sensitive facts out": "memory/test_consolidation_merge.py::test_one_sensitive_member_keeps_the_group_off_the_general_route",
        "one click confirmed all": "memory/test_review_steps.py::test_a_bulk_decision_shows_what_it_holds_and_leaves_out_what_is_flagged",
        "failures of a bulk step were swallowed": "memory/test_review_steps.py::test_each_item_of_a_bulk_decision_is_reported",
        "it knew English only": "memory/test_recall_languages.py::test_a_question_finds_its_fact_and_an_unrelated_one_none",
        "negations counted in one script only": "memory/test_consolidation_merge.py::test_negations_count_in_scripts_without_latin_letters",
        "a detail more was a restatement": "memory/test_policy_resolve.py::test_what_differs_is_a_correction_whatever_the_reflector_says",
        "what a gate dropped left only a counter": "memory/test_run.py::test_it_creates_supersedes_reinforces_and_drops_as_told",
        "a restart every day meant no run ever": "memory/test_consolidation_run.py::test_who_never_had_a_run_is_due_whenever_the_process_started",
        "an unknown filter was an error of the server": "memory/test_pages_facts.py::test_it_answers_a_bad_filter_with_a_page",
        "every extraction failed in silence": "memory/test_run_failures.py::test_it_backs_off_and_is_stuck_after_five_attempts",
    },
    "AnythingLLM": {
        "a failure consumed what was said": "memory/test_run_failures.py::test_a_failing_observer_leaves_the_window_for_the_next_attempt",
        "when a fact was last used was never read": "memory/test_consolidation_stages.py::test_a_retrieval_keeps_an_event_for_180_days",
        "visitors got the owner's memory": "agents/test_auth.py::test_without_a_good_key_nothing_opens",
        "an assistant for others got all of it": "memory/test_scope.py::test_an_agent_reads_what_its_owner_lets_it",
        "two memories had one name": f"{HERE}::test_there_is_one_memory_for_recall_and_for_search",
        "nobody knew where a fact came from": "memory/test_run.py::test_a_fact_knows_where_it_came_from",
        "a made-up id reached another's row": "memory/test_run.py::test_the_model_sees_data_in_a_fence_and_no_real_ids",
        "rows pointed across owners": "memory/test_database_owners.py::test_a_strangers_row_is_out_of_reach_of_every_pointer",
        "an unknown id lost the good ones": "memory/test_run.py::test_a_bad_handle_drops_its_candidate_and_no_other",
        "only the newest twenty were read": "memory/test_windows.py::test_it_reads_all_messages_in_windows_of_twenty_with_four_before",
        "a full store consumed what was said": "memory/test_run.py::test_at_the_cap_an_event_waits_instead",
        "a full store could not be corrected": "memory/test_lifecycle_births.py::test_at_the_cap_corrections_still_apply",
        "logs held memories": "memory/test_run.py::test_nothing_of_memory_is_logged",
        "two at once passed the cap": "memory/test_database_races.py::test_the_cap_holds_when_two_confirm_at_once",
        "content had no limit": "memory/test_database_rules.py::test_values_outside_their_range_are_refused",
        "a missing field was an error of the server": "conversations/test_bad_input.py::test_a_missing_field_is_named",
        "two pages of the manual disagreed": f"{HERE}::test_the_manual_names_the_days_that_are_in_force",
        "adding beyond the cap looked like success": "memory/test_lifecycle_births.py::test_at_the_cap_a_person_is_told",
        "code could replace the whole memory": "memory/test_purge.py::test_the_application_erases_in_no_other_way",
    },
    "Kai": {
        "an update erased what it replaced": "memory/test_lifecycle_decisions.py::test_a_confirmed_correction_takes_the_place_of_its_target",
        "facts had no states": "memory/test_database_rules.py::test_only_the_drawn_steps_are_possible",
        "nothing was forgotten in bulk": "memory/test_purge_command.py::test_forget_archives",
        "everything was active unseen": "memory/test_run.py::test_what_is_durable_waits_and_an_event_the_owner_typed_is_active",
        "a purge passed over some origins": "memory/test_purge.py::test_no_origin_is_out_of_a_purges_reach",
        "a purge wanted everything stopped": "memory/test_purge_races.py::test_it_waits_for_a_writer_and_takes_what_that_wrote",
        "a failure lost the turn": "memory/test_run_failures.py::test_a_failing_reflector_leaves_nothing_of_the_observers_work",
        "policy saw a cut text": "memory/test_windows.py::test_the_whole_text_goes_to_policy_and_a_cut_one_to_the_model",
        "words counted in one script only": "memory/test_consolidation_merge.py::test_a_language_the_model_does_not_know_is_compared_by_words",
        "the manual was out of date": "config/test_documentation.py::test_every_variable_is_documented_and_none_is_made_up",
    },
    "navi-1": {
        "a value was overwritten in its place": "memory/test_database_rules.py::test_nothing_of_a_birth_ever_changes",
        "what tools said ranked above the owner": "memory/test_recall_scoring.py::test_age_kind_and_confidence_reorder_and_hide_nothing",
        "what tools said was learned": "memory/test_windows.py::test_only_the_owner_and_digests_are_worth_a_question",
        "what was forgotten came back": "memory/test_run.py::test_what_was_forgotten_does_not_come_back",
        "the last conversation was never read": "memory/test_sweep.py::test_a_quiet_conversation_with_something_unread_is_due",
        "the middle of a long talk was left out": "memory/test_run.py::test_a_long_conversation_is_read_window_by_window",
        "a narrative stood in every prompt": f"{HERE}::test_the_profile_is_in_no_block",
        "a narrative outlived its facts": "memory/test_profile.py::test_a_fact_that_is_archived_takes_its_sentences_along_at_once",
        "the dimension of vectors was fixed": "memory/test_reembed.py::test_a_second_real_model_of_another_dimension_takes_over",
        "a forgotten owner meant everybody's": "memory/test_scope.py::test_nobody_is_no_owner",
        "two scales of confidence disagreed": f"{HERE}::test_there_is_one_scale_of_confidence",
    },
}  # fmt: skip


def test_each_fault_has_a_test_that_is_there() -> None:
    named = [test for faults in FAULTS.values() for test in faults.values()]
    missing = [test for test in named if not _exists(*test.split("::"))]
    assert missing == []


def _exists(file: str, name: str) -> bool:
    path = TESTS / file
    return path.is_file() and f"def {name}(" in path.read_text()


def test_a_handle_that_is_no_number_costs_no_other_update(llm: ScriptedLlm, agent: Agent) -> None:
    talk = ConversationFactory.create(agent=agent)
    say(talk, "I have a cat and a boat")
    llm.observer(
        observed(
            candidate("The user has a cat.", "I have a cat"),
            candidate("The user has a boat.", "a boat"),
        )
    )
    FactFactory.create(agent=agent, statement="The user has a dog.", state=State.ACTIVE)
    bad: Any = [(1, "supersede", ["all"]), (2, "create", [])]
    llm.reflector(decided(*bad), decided((1, "create", []), (2, "create", [])))
    assert run_once(talk).counts["created"] == 2


def test_a_setting_of_another_kind_is_no_yes_to_memory(
    alices: Client, agent: Agent, settings: Settings
) -> None:
    settings.MEMORY_MODE = "default_off"
    row = OwnerSettings.objects.get(owner=agent.owner)
    row.memory_enabled = None
    row.time_zone = "Europe/Helsinki"
    row.save()
    agent.owner.refresh_from_db()
    assert not memory_on(agent.owner)


def test_every_conversation_has_an_agent(agent: Agent) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Conversation.objects.create(owner=agent.owner, source="api", external_id="alone")


def test_every_page_is_served_while_memory_is_off(
    alices: Client, agent: Agent, settings: Settings
) -> None:
    FactFactory.create(agent=agent, state=State.ACTIVE)
    settings.MEMORY_MODE = "disabled"
    pages = [f"/{route}" for route in _plain_routes(get_resolver().url_patterns)]
    assert "/review/" in pages
    answers = {page: alices.get(page).status_code for page in pages}
    assert {page: code for page, code in answers.items() if code not in {200, 302, 405}} == {}


def _plain_routes(patterns: Any, lead: str = "") -> list[str]:
    """Addresses of the desk that take no part."""
    found: list[str] = []
    for pattern in patterns:
        route = f"{lead}{pattern.pattern}"
        if route.startswith(("admin", "api", "accounts", "static", "mcp", "v1", "healthz")):
            continue
        if isinstance(pattern, URLResolver):
            found += _plain_routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and not re.search(r"[<(^]", route):
            found.append(route)
    return found


def test_there_is_one_memory_for_recall_and_for_search(
    agent: Agent, api: Any, alice_key: Any
) -> None:
    FactFactory.create(agent=agent, statement="The user keeps bees.", state=State.ACTIVE)
    client = api(alice_key)
    asked = {"agent": agent.slug, "message": "How do I keep my bees?"}
    told = client.post("/api/v1/recall", asked, content_type="application/json")
    found = client.post("/api/v1/search", {"query": "bees"}, content_type="application/json")
    for answer in (told, found):
        assert "The user keeps bees." in answer.content.decode(), answer.content


def test_the_profile_is_in_no_block(agent: Agent, api: Any, alice_key: Any) -> None:
    fact = FactFactory.create(agent=agent, statement="The user keeps bees.", state=State.ACTIVE)
    profile = Profile.objects.create(
        owner=agent.owner, agent=agent, digest="d", prompt_version="p", written_by="scripted"
    )
    row = ProfileSentence.objects.create(
        owner=agent.owner, profile=profile, place=1, text="A beekeeper at heart."
    )
    ProfileCitation.objects.create(owner=agent.owner, sentence=row, fact=fact)
    asked = {"agent": agent.slug, "message": "How do I keep my bees, at heart?"}
    answer = api(alice_key).post("/api/v1/recall", asked, content_type="application/json")
    assert "The user keeps bees." in answer.json()["block"]
    assert "at heart" not in answer.content.decode()


def test_the_manual_names_the_days_that_are_in_force() -> None:
    text = (DOCS / "consolidation.md").read_text()
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if "|" in line}
    assert f"{archive_episodic.UNUSED.days} days" in rows["archive_episodic"]
    assert f"{decay_semantic.YEAR.days} days" in rows["decay_semantic"]
    assert f"{demote_pending.WAITED.days} days" in rows["demote_pending"]
    assert f"below {demote_pending.SURE}" in rows["demote_pending"]


@pytest.mark.parametrize("confidence", [-0.01, 1.01, 80])
def test_there_is_one_scale_of_confidence(agent: Agent, confidence: float) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        FactFactory.create(agent=agent, confidence=confidence)
    assert not Fact.objects.exists()
