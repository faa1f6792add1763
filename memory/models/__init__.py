from memory.models.extraction import DroppedCandidate, ExtractionRun, OwnerLease, RecalledFact
from memory.models.fact import (
    CorrectionTarget,
    Entity,
    EntityAlias,
    Evidence,
    Fact,
    FactEmbedding,
    FactEntity,
    FactUsage,
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
