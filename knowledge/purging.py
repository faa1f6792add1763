"""What a purge takes of the knowledge base, and what it says about the rest.

A document goes whole: an original can't be edited. So do the words for which a person purges, when
a document holds them anywhere, and what an API key brought. Whatever else a purge is asked by
(conversation, time, assistant, import) means what was said, and no document was.
"""

from collections.abc import Collection as Several
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import F, Func, Q, QuerySet, TextField, Value

from agents.models import User
from knowledge import marks, proposals, tombstones
from knowledge.models import Collection, Document, DocumentText
from memory.purge.further import Hanging, Wish

# What may stand between two words of a phrase in Markdown, beside blanks.
_BETWEEN = rf"[*_`|>#{marks.BEGIN}{marks.END}]|{marks.PAGE}\d+"
_TOLD = ("title", "file_name", "address", "failure_detail", "notes")


class Documents:
    """See memory/purge/further.py."""

    def chosen(self, owner: User, wish: Wish) -> Iterable[UUID]:
        rows = Document.objects.filter(owner=owner)
        if wish.everything:
            return {*_ids(rows), *_ids(Collection.objects.filter(owner=owner))}
        if wish.client is not None:
            rows = rows.filter(client=wish.client)
        return set(_ids(_with_words(rows, wish.pattern) if wish.pattern else rows))

    def titles(self, owner: User, ids: Several[UUID]) -> Sequence[str]:
        rows = _among(owner, ids).order_by("title", "pk")
        return list(rows.values_list("title", flat=True))

    def staying(self, owner: User, pattern: str, going: Several[UUID]) -> Sequence[str]:
        rows = Document.objects.filter(owner=owner).exclude(pk__in=going)
        rows = rows.exclude(collection__in=going)
        if not pattern:
            return _number(rows.count(), "{} stay{s}: delete what should go on its own page.")
        unread = rows.filter(texts__isnull=True)
        named = Collection.objects.filter(owner=owner).filter(
            Q(name__iregex=pattern) | Q(description__iregex=pattern)
        )
        return [
            *_number(
                _with_words(rows, pattern).count(),
                "{} with these words stay{s}: delete what should go on its own page.",
            ),
            *_number(unread.count(), "{} not read yet or failed: nobody knows what is in {it}."),
            *(f"The collection “{row.name}” keeps its name and description." for row in named),
        ]

    def hold(self, owner: User, ids: Several[UUID]) -> None:
        """First the collections, so that nothing is put into one that goes."""
        rows = Collection.objects.select_for_update().filter(owner=owner, pk__in=ids)
        list(rows.order_by("pk").values_list("pk"))
        list(_among(owner, ids).select_for_update().order_by("pk").values_list("pk"))

    def hanging(self, owner: User, ids: Several[UUID]) -> Hanging:
        return proposals.hanging(owner, list(_ids(_among(owner, ids))))

    def hashes_among(self, owner: User, ids: Several[UUID]) -> Iterable[str]:
        told = _among(owner, ids).values_list("digest", "address")
        return {tombstones.hash_of(said) for row in told for said in row if said}


def _among(owner: User, ids: Several[UUID]) -> QuerySet[Document]:
    """Of the documents among these rows, and of those in the collections among them."""
    return Document.objects.filter(Q(pk__in=ids) | Q(collection__in=ids), owner=owner)


def _with_words(rows: QuerySet[Document], pattern: str) -> QuerySet[Document]:
    plain = Func(
        F("markdown"),
        Value(_BETWEEN),
        Value(" "),
        Value("g"),
        function="regexp_replace",
        output_field=TextField(),
    )
    texts = DocumentText.objects.annotate(plain=plain)
    texts = texts.filter(Q(markdown__iregex=pattern) | Q(plain__iregex=pattern))
    said = Q(pk__in=texts.filter(document__in=rows).values("document"))
    for name in _TOLD:
        said |= Q(**{f"{name}__iregex": pattern})
    return rows.filter(said)


def _number(count: int, sentence: str) -> list[str]:
    if not count:
        return []
    one = count == 1
    what = "1 document" if one else f"{count} documents"
    return [sentence.format(what, s="s" if one else "", it="it" if one else "them")]


def _ids(rows: "QuerySet[Document] | QuerySet[Collection]") -> Iterable[UUID]:
    return rows.values_list("pk", flat=True)
