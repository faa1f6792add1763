"""An account is whole however it is made."""

import pytest
from django.core.management import call_command

from agents.gate import memory_on
from agents.models import Agent, AuditEvent, User

pytestmark = pytest.mark.django_db


def test_createsuperuser_makes_settings_and_a_first_assistant() -> None:
    call_command("createsuperuser", username="carol", email="", interactive=False, verbosity=0)
    carol = User.objects.get(username="carol")
    assert carol.is_superuser
    assert memory_on(carol)
    assert Agent.objects.get(owner=carol).is_default
    events = AuditEvent.objects.filter(owner_id=carol.pk)
    assert {event.actor for event in events} == {"command:createsuperuser"}
