"""The only NinjaAPI: routers and error handlers. The description is at /api/v1/openapi.json.

The page at /api/v1/docs is drawn from it here: Swagger's would need a CDN or inline scripts, and
neither is allowed. docs/api.md has the rules that operations share.
"""

from importlib.metadata import version

from agents.api import router as accounts
from agents.bodies import JsonOnly
from config import problems
from config.openapi import DescribedAPI, drawn_once
from config.strictness import exactly
from conversations.api import router as conversations
from conversations.sketches.api import router as sketches
from knowledge.api import router as collections
from knowledge.api_documents import router as documents
from knowledge.api_search import router as knowledge
from memory.api import router as memory
from memory.api_candidates import router as candidates
from memory.api_cases import router as cases
from memory.api_facts import router as facts
from memory.api_forget import router as forgetting
from memory.api_remember import router as remembering
from memory.api_runs import router as runs
from memory.api_search import router as search
from memory.api_stats import router as stats
from memory.api_transfer import router as transfer
from memory.api_webhooks import router as webhooks
from memory.profile.api import router as profile
from memory.rules.api import router as rules

api = DescribedAPI(
    title="Remembrancer",
    version=version("remembrancer"),
    description="Long-term memory that its owner can trust. Errors are problem documents.",
    docs_url=None,
    docs_decorator=drawn_once,
    urls_namespace="api",
    parser=JsonOnly(),
)
problems.install(api)
api.add_decorator(exactly, mode="view")
api.add_router("", conversations, tags=["conversations"])
api.add_router("", sketches, tags=["conversations"])
api.add_router("", memory, tags=["memory"])
api.add_router("", search, tags=["memory"])
api.add_router("", profile, tags=["memory"])
api.add_router("", rules, tags=["memory"])
api.add_router("", stats, tags=["memory"])
api.add_router("", transfer, tags=["memory"])
api.add_router("", forgetting, tags=["memory"])
api.add_router("", remembering, tags=["memory"])
api.add_router("", facts, tags=["facts"])
api.add_router("", candidates, tags=["candidates"])
api.add_router("", runs, tags=["runs"])
api.add_router("", cases, tags=["cases"])
api.add_router("", collections, tags=["knowledge"])
api.add_router("", documents, tags=["knowledge"])
api.add_router("", knowledge, tags=["knowledge"])
api.add_router("", webhooks, tags=["webhooks"])
api.add_router("", accounts, tags=["agents, keys and settings"])
