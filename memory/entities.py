"""Who and what an owner's facts speak of: look-up, and the merge of two that are one.

A merge is on record by ids alone, so that it can be taken back and holds no text to purge.
"""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from agents.audit import Actor
from agents.models import User
from memory.lifecycle import LifecycleError, NotAllowed
from memory.lifecycle.rows import need_person, transition
from memory.models import Entity, EntityAlias, EntityMerge, FactEntity
from memory.text import normalise


class MergeRefused(LifecycleError):
    """Nothing has changed. The message is for people."""


def entities_of(owner: User) -> QuerySet[Entity]:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return Entity.objects.filter(owner=owner)


def entity_of(owner: User, entity_id: UUID) -> Entity:
    entity = entities_of(owner).select_related("owner").filter(pk=entity_id).first()
    if entity is None:
        raise Http404("There is no such entity.")
    return entity


def named(owner: User, words: str) -> QuerySet[Entity]:
    """Those with a name that holds these words."""
    aliases = EntityAlias.objects.filter(owner=owner, normal_name__contains=normalise(words))
    return entities_of(owner).filter(pk__in=aliases.values("entity"))


def merge(*, kept: Entity, gone: Entity, actor: Actor, reason: str = "") -> EntityMerge:
    """`gone` goes up in `kept`, with its names and facts. Raises MergeRefused, NotAllowed."""
    if kept.owner_id != gone.owner_id:
        raise NotAllowed("That belongs to another owner.")
    if kept.pk == gone.pk:
        raise MergeRefused("These are the same already.")
    with transition(kept.owner, actor, reason):
        need_person(actor, kept.owner)
        both = Entity.objects.select_for_update().filter(pk__in=[kept.pk, gone.pk])
        if len(both) != 2:
            raise MergeRefused("One of them is not there any more: it was merged or purged.")
        own_alias, aliases, shared_aliases = _move_aliases(kept, gone)
        facts, shared_facts = _move_facts(kept, gone)
        record = EntityMerge.objects.create(
            owner=kept.owner,
            kept=kept.pk,
            gone=gone.pk,
            gone_type=gone.type,
            own_alias=own_alias,
            aliases=aliases,
            shared_aliases=shared_aliases,
            facts=facts,
            shared_facts=shared_facts,
        )
        Entity.objects.filter(pk=gone.pk).delete()
        return record


def _move_aliases(kept: Entity, gone: Entity) -> tuple[int, list[int], list[int]]:
    """The alias that holds the other's name, those that moved, and those that both had."""
    moving = EntityAlias.objects.filter(entity=gone)
    names = dict(moving.values_list("normal_name", "pk"))
    there = EntityAlias.objects.filter(entity=kept, normal_name__in=names)
    both = dict(there.values_list("normal_name", "pk"))
    moving.filter(normal_name__in=both).delete()
    moving.update(entity=kept)
    moved = {name: pk for name, pk in names.items() if name not in both}
    own = both.get(gone.normal_name) or moved.get(gone.normal_name)
    if own is None:
        own = EntityAlias.objects.create(
            owner=kept.owner, entity=kept, name=gone.name, normal_name=gone.normal_name
        ).pk
    return own, list(moved.values()), list(both.values())


def _move_facts(kept: Entity, gone: Entity) -> tuple[list[UUID], list[UUID]]:
    """The facts that moved, and those that spoke of both."""
    known = FactEntity.objects.filter(entity=kept).values("fact")
    moving = FactEntity.objects.filter(entity=gone)
    both = list(moving.filter(fact__in=known).values_list("fact_id", flat=True))
    moving.filter(fact__in=both).delete()
    moved = list(moving.values_list("fact_id", flat=True))
    moving.update(entity=kept)
    return moved, both


def last_merges(entity: Entity) -> QuerySet[EntityMerge]:
    """What went up in this one and can be taken back, the latest first."""
    rows = EntityMerge.objects.filter(owner=entity.owner_id, kept=entity.pk)
    return rows.filter(undone_at__isnull=True).order_by("-merged_at")


def merge_of(owner: User, merge_id: UUID) -> EntityMerge:
    row = EntityMerge.objects.filter(owner=owner).select_related("owner").filter(pk=merge_id)
    found = row.first()
    if found is None:
        raise Http404("There is no such merge.")
    return found


def undo(*, record: EntityMerge, actor: Actor, reason: str = "") -> Entity:
    """Both stand again, each with the names and facts that it had; what came since stays with the
    kept one. Raises MergeRefused, NotAllowed."""
    with transition(record.owner, actor, reason) as now:
        need_person(actor, record.owner)
        row = EntityMerge.objects.select_for_update().get(pk=record.pk)
        own = EntityAlias.objects.filter(pk=row.own_alias, entity=row.kept).first()
        if row.undone_at is not None or own is None:
            raise MergeRefused("This merge can't be taken back any more.")
        if entities_of(record.owner).filter(type=row.gone_type, normal_name=own.normal_name):
            raise MergeRefused(f"There is another {row.gone_type} of that name by now.")
        entity = _revive(record.owner, row, own)
        row.undone_at = now
        row.save(update_fields=["undone_at"])
        return entity


def _revive(owner: User, row: EntityMerge, own: EntityAlias) -> Entity:
    entity = Entity.objects.create(
        id=row.gone, owner=owner, type=row.gone_type, name=own.name, normal_name=own.normal_name
    )
    EntityAlias.objects.filter(pk__in=row.aliases, entity=row.kept).update(entity=entity)
    copied = EntityAlias.objects.filter(pk__in=row.shared_aliases, entity=row.kept)
    EntityAlias.objects.bulk_create(
        EntityAlias(owner=owner, entity=entity, name=alias.name, normal_name=alias.normal_name)
        for alias in copied
    )
    FactEntity.objects.filter(fact__in=row.facts, entity=row.kept).update(entity=entity)
    there = FactEntity.objects.filter(fact__in=row.shared_facts, entity=row.kept)
    FactEntity.objects.bulk_create(
        FactEntity(owner=owner, fact_id=fact, entity=entity)
        for fact in there.values_list("fact_id", flat=True)
    )
    return entity
