"""Closing an account: its memory is purged first. The row stays, because the trail names it."""

from collections import Counter

from agents import keys
from agents.access import agents_of, keys_of
from agents.audit import Actor, acting
from agents.models import OwnerSettings, SignInToken, User
from memory.lifecycle import NotAllowed
from memory.models import ReviewDigest, Webhook
from memory.purge.execute import Tell, purge, purge_names, say_nothing
from memory.purge.selection import chosen


def close_account(*, owner: User, actor: Actor, tell: Tell = say_nothing) -> Counter[str]:
    """Purges everything, revokes the keys, takes the name away and lets nobody sign in. What was
    erased. To go on after a stop, do it again. Raises NotAllowed."""
    _keep_one_administrator(owner)
    with acting(actor, "account closed"):
        OwnerSettings.objects.filter(owner=owner).update(memory_enabled=False)
        for key in keys_of(owner).filter(revoked_at__isnull=True):
            keys.revoke(key=key, actor=actor, reason="account closed")
    erased = purge(selection=chosen(owner=owner, everything=True), actor=actor, tell=tell)
    with acting(actor, "account closed"):
        _take_names_away(owner)
        hooks = list(Webhook.objects.filter(owner=owner).values_list("pk", flat=True))
        Webhook.objects.filter(owner=owner).delete()
        purge_names(owner=owner, actor=actor, more=hooks)
    return erased


def _keep_one_administrator(owner: User) -> None:
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=owner.pk)
    if owner.is_superuser and not others.exists():
        raise NotAllowed("This is the only administrator; make another one first.")


def _take_names_away(owner: User) -> None:
    for number, agent in enumerate(agents_of(owner).order_by("pk"), start=1):
        agent.name, agent.slug = f"closed {number}", f"closed-{number}"
        agent.save(update_fields=["name", "slug"])
    keys_of(owner).update(name="closed")
    SignInToken.objects.filter(user=owner).delete()
    ReviewDigest.objects.filter(owner=owner).delete()
    owner.username = f"closed-{owner.pk.hex}"
    owner.email = owner.first_name = owner.last_name = ""
    owner.is_active = owner.is_staff = owner.is_superuser = False
    owner.set_unusable_password()
    owner.save()
