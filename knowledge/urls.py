from django.urls import path

from knowledge.pages import adding, collections, documents, extracting, pinning, search

_COLLECTION = "knowledge/collections/<uuid:collection_id>/"
_DOCUMENT = "knowledge/documents/<uuid:document_id>/"

urlpatterns = [
    path("knowledge/", collections.knowledge, name="knowledge"),
    path("knowledge/search/", search.search, name="knowledge-search"),
    path("knowledge/retry/", collections.retry_all, name="knowledge-retry"),
    path("knowledge/collections/new/", collections.new, name="collection-new"),
    path(_COLLECTION, collections.collection, name="collection"),
    path(f"{_COLLECTION}edit/", collections.edit, name="collection-edit"),
    path(f"{_COLLECTION}delete/", collections.delete, name="collection-delete"),
    path(f"{_COLLECTION}retry/", collections.retry_all, name="collection-retry"),
    path(f"{_COLLECTION}upload/", adding.upload, name="document-upload"),
    path(f"{_COLLECTION}address/", adding.address, name="document-address"),
    path(f"{_COLLECTION}text/", adding.text, name="document-text"),
    path(_DOCUMENT, documents.document, name="document"),
    path(f"{_DOCUMENT}original/", documents.original, name="document-original"),
    path(f"{_DOCUMENT}retry/", documents.retry, name="document-retry"),
    path(f"{_DOCUMENT}read-again/", documents.reingest, name="document-reingest"),
    path(f"{_DOCUMENT}delete/", documents.delete, name="document-delete"),
    path(f"{_DOCUMENT}extract/", extracting.extract, name="document-extract"),
    path(
        "knowledge/passages/<uuid:passage_id>/extract/",
        extracting.extract_passage,
        name="passage-extract",
    ),
    path("conversations/<uuid:conversation_id>/pin/", pinning.pin, name="conversation-pin"),
    path("conversations/<uuid:conversation_id>/unpin/", pinning.unpin, name="conversation-unpin"),
]
