"""manage.py apikey: the key alone on stdout, so that a script can keep it."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agents import keys
from agents.models import ApiKey, AuditEvent, User

pytestmark = pytest.mark.django_db


def _run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("apikey", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_it_prints_the_key_alone(alice: User) -> None:
    out, err = _run("create", "Laptop", "--agent", "work", "--scope", "search", "--scope", "recall")
    key = keys.verify(out.strip())
    assert key is not None
    assert out == f"{out.strip()}\n"
    assert (key.owner, key.agent, key.name) == (alice, alice.agents.get(slug="work"), "Laptop")
    assert key.scopes == ["recall", "search"]
    assert out.strip() not in err
    event = AuditEvent.objects.get(table="agents_apikey", row_id=str(key.pk))
    assert event.actor == "command:apikey"


def test_without_scopes_it_may_ingest_and_recall(alice: User) -> None:
    key = keys.verify(_run("create", "Laptop", "--days", "30")[0].strip())
    assert key is not None
    assert (key.agent, key.scopes) == (None, ["ingest", "recall"])
    assert key.expires_at is not None


def test_it_lists_keys_without_their_secrets(alice: User, bob: User) -> None:
    plaintext = _run("--owner", "alice", "create", "Laptop")[0].strip()
    _run("--owner", "bob", "create", "Bob's phone")
    listed = _run("--owner", "alice", "list")[0]
    assert "live  *  ingest,recall  Laptop" in listed
    assert "Bob's phone" not in listed
    assert plaintext[: keys.PREFIX_LENGTH] in listed
    assert plaintext not in listed


def test_it_revokes_by_prefix(alice: User) -> None:
    plaintext = _run("create", "Laptop")[0].strip()
    _run("revoke", plaintext[: keys.PREFIX_LENGTH])
    assert keys.verify(plaintext) is None
    assert "ended" in _run("list")[0]


def test_it_rotates_a_key(alice: User) -> None:
    old = _run("create", "Laptop", "--scope", "recall")[0].strip()
    new = _run("rotate", old[: keys.PREFIX_LENGTH])[0].strip()
    assert keys.verify(old) is None
    key = keys.verify(new)
    assert key is not None
    assert (key.name, key.scopes) == ("Laptop", ["recall"])
    last = _run("rotate", new[: keys.PREFIX_LENGTH], "--hours", "2")[0].strip()
    assert keys.verify(new) is not None
    assert keys.verify(last) is not None
    with pytest.raises(CommandError, match="has ended already"):
        _run("rotate", old[: keys.PREFIX_LENGTH])


def test_it_revokes_no_other_owners_key(alice: User, bob: User) -> None:
    plaintext = _run("--owner", "bob", "create", "Phone")[0].strip()
    with pytest.raises(CommandError, match="alice has no key"):
        _run("--owner", "alice", "revoke", plaintext[: keys.PREFIX_LENGTH])
    assert keys.verify(plaintext) is not None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["create", "x", "--scope", "everything"], "invalid choice"),
        (
            ["create", "x", "--agent", "nobody"],
            "alice has no agent 'nobody'. There is: main, work.",
        ),
        (["create", " "], "needs a name"),
        (["create", "x", "--days", "0"], "--days must be between"),
        (["create", "x", "--days", "99999999999"], "--days must be between"),
        (["rotate", "rmb_nothing"], "alice has no key rmb_nothing"),
        (["rotate", "rmb_nothing", "--hours", "999"], "--hours must be between"),
        (["--owner", "carol", "list"], "There is no owner 'carol'. There is: alice."),
    ],
)
def test_it_says_what_is_wrong(alice: User, arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        _run(*arguments)
    assert not ApiKey.objects.exists()
