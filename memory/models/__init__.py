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
    "FactUsage",
    "OwnerLease",
    "RecalledFact",
    "Tombstone",
]
