from knowledge.models.collection import Collection
from knowledge.models.document import Document, DocumentFile, DocumentText
from knowledge.models.passage import DocumentEmbedding, DocumentPassage, DocumentTerm
from knowledge.models.picture import PictureReading
from knowledge.models.pin import PinnedCollection

__all__ = [
    "Collection",
    "Document",
    "DocumentEmbedding",
    "DocumentFile",
    "DocumentPassage",
    "DocumentTerm",
    "DocumentText",
    "PictureReading",
    "PinnedCollection",
]
