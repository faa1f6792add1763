from knowledge.models.collection import Collection
from knowledge.models.document import Document, DocumentFile, DocumentText
from knowledge.models.passage import DocumentEmbedding, DocumentPassage, DocumentTerm

__all__ = [
    "Collection",
    "Document",
    "DocumentEmbedding",
    "DocumentFile",
    "DocumentPassage",
    "DocumentTerm",
    "DocumentText",
]
