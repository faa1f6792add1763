"""The ways to a language model, as the environment names them. Only operators set them."""

from urllib.parse import urlsplit

import environ

from config.errors import StartError

PROVIDERS = ("openai", "anthropic")
OUTPUTS = ("tool", "schema", "prompt")


def llm_routes(env: environ.Env) -> dict[str, dict[str, str]]:
    """By name; `configured` in memory/llm.py hands them out. Raises StartError."""
    vision = llm_route(env, "LLM_VISION")
    general = llm_route(env, "LLM", alone=not vision["model"])
    return {
        "general": general,
        "private": llm_route(env, "LLM_PRIVATE"),
        "vision": _beside(env, "LLM_VISION", vision, general),
    }


def llm_route(env: environ.Env, prefix: str, *, alone: bool = True) -> dict[str, str]:
    """Values for memory.llm.Route, an empty model where the route is not set. `alone`: no other
    route takes its endpoint. Raises StartError."""
    route = {
        "model": env.str(f"{prefix}_MODEL", default="").strip(),
        "base_url": env.str(f"{prefix}_BASE_URL", default="").strip().rstrip("/"),
        "api_key": env.str(f"{prefix}_API_KEY", default="").strip(),
        "provider": env.str(f"{prefix}_PROVIDER", default="").strip().lower() or PROVIDERS[0],
        "output": env.str(f"{prefix}_OUTPUT", default="").strip().lower() or OUTPUTS[0],
    }
    _one_of(f"{prefix}_PROVIDER", route["provider"], PROVIDERS)
    _one_of(f"{prefix}_OUTPUT", route["output"], OUTPUTS)
    if alone and not route["model"] and (route["base_url"] or route["api_key"]):
        raise StartError(f"{prefix}_MODEL is not set. Name the model that the endpoint serves.")
    if route["base_url"] and not route["base_url"].startswith(("http://", "https://")):
        raise StartError(f"{prefix}_BASE_URL must start with http:// or https://.")
    return route


def _beside(
    env: environ.Env, prefix: str, route: dict[str, str], general: dict[str, str]
) -> dict[str, str]:
    """At the general endpoint, unless it names one of its own. A key never goes to an endpoint
    that it was not given for."""
    if not route["model"] or any(_given(env, prefix, "base_url", "provider")):
        return route
    own = ["model", *_given(env, prefix, "api_key", "output")]
    return general | {name: route[name] for name in own}


def _given(env: environ.Env, prefix: str, *names: str) -> list[str]:
    return [name for name in names if env.str(f"{prefix}_{name.upper()}", default="").strip()]


def upstream(env: environ.Env) -> dict[str, str]:
    """The server that chats pass through to; an empty address: none do. Raises StartError."""
    url = env.str("UPSTREAM_BASE_URL", default="").strip().rstrip("/")
    key = env.str("UPSTREAM_API_KEY", default="").strip()
    if key and not url:
        raise StartError("UPSTREAM_BASE_URL is not set. Name the server of UPSTREAM_API_KEY.")
    parts = urlsplit(url)
    if url and (parts.scheme not in {"http", "https"} or not parts.hostname):
        raise StartError("UPSTREAM_BASE_URL must start with http:// or https://.")
    if parts.username or parts.query or parts.fragment:
        raise StartError("UPSTREAM_BASE_URL is an address alone; the key is UPSTREAM_API_KEY.")
    return {"base_url": url, "api_key": key}


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise StartError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")
