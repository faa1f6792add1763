from memory.models.bulk import BulkItem, BulkJob
from memory.models.case import Case, CaseEmbedding, CaseReading, CaseSource
from memory.models.consolidation import (
    ConsolidationChange,
    ConsolidationRun,
    ConsolidationSchedule,
)
from memory.models.derivation import Derivation, Reflection
from memory.models.derived import FactEmbedding, FactUsage
from memory.models.digest import DigestMail, ReviewDigest
from memory.models.entity import Entity, EntityAlias, FactEntity
from memory.models.extraction import DroppedCandidate, ExtractionRun, OwnerLease, RecalledFact
from memory.models.fact import (
    CorrectionTarget,
    Evidence,
    Fact,
    Tombstone,
)
from memory.models.forgetting import ForgetRequest, Forgotten
from memory.models.heartbeat import Heartbeat
from memory.models.merging import EntityMerge
from memory.models.profile import Profile, ProfileCitation, ProfileSentence
from memory.models.recalled import RecalledAhead
from memory.models.rule import Rule
from memory.models.terms import FactCount, FactTerm
from memory.models.webhook import Webhook, WebhookDelivery

__all__ = [
    "BulkItem",
    "BulkJob",
    "Case",
    "CaseEmbedding",
    "CaseReading",
    "CaseSource",
    "ConsolidationChange",
    "ConsolidationRun",
    "ConsolidationSchedule",
    "CorrectionTarget",
    "Derivation",
    "DigestMail",
    "DroppedCandidate",
    "Entity",
    "EntityAlias",
    "EntityMerge",
    "Evidence",
    "ExtractionRun",
    "Fact",
    "FactCount",
    "FactEmbedding",
    "FactEntity",
    "FactTerm",
    "FactUsage",
    "ForgetRequest",
    "Forgotten",
    "Heartbeat",
    "OwnerLease",
    "Profile",
    "ProfileCitation",
    "ProfileSentence",
    "RecalledAhead",
    "RecalledFact",
    "Reflection",
    "ReviewDigest",
    "Rule",
    "Tombstone",
    "Webhook",
    "WebhookDelivery",
]
