"""Only one extraction per owner, whatever dies or dawdles."""

import time
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.db import connections, transaction
from django.utils import timezone

from agents.models import User
from memory.extraction.lease import LeaseLost, LeaseTaken, at_work, claim, hold, release, renew
from memory.models import OwnerLease

pytestmark = pytest.mark.django_db


def run_out(owner: User) -> None:
    OwnerLease.objects.filter(owner=owner).update(expires_at=timezone.now() - timedelta(seconds=1))


def test_a_second_claim_is_refused(alice):
    claim(alice)
    with pytest.raises(LeaseTaken):
        claim(alice)


def test_owners_do_not_wait_for_each_other(alice, bob):
    claim(alice)
    assert claim(bob).owner == bob


@pytest.mark.django_db(transaction=True)
def test_the_lease_of_a_dead_worker_is_free_at_once(alice):
    """Its database session has ended; the row is still there and has not run out."""

    def work_and_die() -> None:
        claim(alice)
        connections.close_all()

    worker = Thread(target=work_and_die)
    worker.start()
    worker.join()
    assert OwnerLease.objects.get().expires_at > timezone.now()
    deadline = time.monotonic() + 10
    while at_work() and time.monotonic() < deadline:  # Postgres notices within milliseconds
        time.sleep(0.01)
    assert at_work() == set()
    assert claim(alice).owner == alice


@pytest.mark.django_db(transaction=True)
def test_the_lease_of_a_living_worker_is_not(alice, bob):
    claimed, may_end = Event(), Event()

    def work() -> None:
        claim(alice)
        claimed.set()
        may_end.wait(10)
        connections.close_all()

    worker = Thread(target=work)
    worker.start()
    claimed.wait(10)
    assert at_work() == {alice.pk}
    with pytest.raises(LeaseTaken):
        claim(alice)
    may_end.set()
    worker.join()


def test_a_released_lease_can_be_claimed_again(alice):
    release(claim(alice))
    assert claim(alice).owner == alice


def test_a_lease_lasts_as_long_as_the_setting_says(alice, settings):
    settings.EXTRACTION_LEASE_SECONDS = 90
    claim(alice)
    left = OwnerLease.objects.get().expires_at - timezone.now()
    assert timedelta(seconds=60) < left <= timedelta(seconds=91)


def test_a_lease_that_ran_out_goes_to_the_next_and_the_old_holder_may_write_nothing(alice):
    old = claim(alice)
    run_out(alice)
    new = claim(alice)
    assert new.token != old.token
    with pytest.raises(LeaseLost):
        renew(old)
    with transaction.atomic(), pytest.raises(LeaseLost):
        hold(old)
    with transaction.atomic():
        hold(new)


def test_releasing_a_lost_lease_leaves_the_new_one(alice):
    old = claim(alice)
    run_out(alice)
    new = claim(alice)
    release(old)
    renew(new)


def test_a_lease_that_ran_out_unclaimed_is_still_good(alice):
    lease = claim(alice)
    run_out(alice)
    renew(lease)
    with pytest.raises(LeaseTaken):
        claim(alice)
