from memory.models.derived import FactEmbedding, FactUsage
from memory.models.entity import Entity, EntityAlias, FactEntity
from memory.models.extraction import DroppedCandidate, ExtractionRun, OwnerLease, RecalledFact
from memory.models.fact import (
    CorrectionTarget,
    Evidence,
    Fact,
    Tombstone,
)
from memory.models.terms import FactTerm

__all__ = [
    "CorrectionTarget",
    "DroppedCandidate",
    "Entity",
    "EntityAlias",
    "Evidence",
    "ExtractionRun",
    "Fact",
    "FactEmbedding",
    "FactEntity",
    "FactTerm",
    "FactUsage",
    "OwnerLease",
    "RecalledFact",
    "Tombstone",
]
