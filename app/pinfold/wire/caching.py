"""Parameters for an endpoint's prompt cache.

Most services cache by themselves what a request begins with. OpenAI finds it sooner by a key that
the requests of a session share. Anthropic's models cache only up to marks in the request, which
OpenRouter passes on; Anthropic's own OpenAI-compatible endpoint ignores them and caches nothing.
"""

from typing import Any
from urllib.parse import urlsplit

_MARK = {"type": "ephemeral"}
KEY = "prompt_cache_key"


def is_openai(base_url: str) -> bool:
    """Whether this is OpenAI's own endpoint."""
    return urlsplit(base_url).hostname == "api.openai.com"


def wants_marks(base_url: str, model: str) -> bool:
    """Whether an Anthropic model is served that caches up to marks."""
    host = urlsplit(base_url).hostname or ""
    return _within(host, "openrouter.ai") and model.lower().startswith("anthropic/")


def never_cached(base_url: str) -> str:
    """Why nothing is cached at an endpoint, in a sentence; empty where something may be."""
    if not _within(urlsplit(base_url).hostname or "", "anthropic.com"):
        return ""
    return (
        "Nothing is cached here: Anthropic's OpenAI-compatible endpoint has no prompt cache. "
        "OpenRouter has one for the same models."
    )


def kept_for(base_url: str, model: str) -> float:
    """Seconds after its last use in which a cache may still hold a request."""
    if is_openai(base_url):
        return 24 * 3_600
    return 5 * 60 if wants_marks(base_url, model) else 3_600


def marked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Chat messages with the marks, of which a request may have four: behind tools and
    instructions, where the request before this one ended, and at the end.

    A cache is looked up from a mark back over 20 pieces at most, and one response may have more.
    """
    sent = [at for at, message in enumerate(messages) if message["role"] != "assistant"]
    replies = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    before = [at for at in sent if replies and at < replies[-1]]
    ends = {*sent[:1], *before[-1:], *sent[-1:]}
    return [_marked(message) if at in ends else message for at, message in enumerate(messages)]


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    if not parts or parts[-1].get("text") == "":  # an empty text can't be marked
        return message
    parts[-1] = parts[-1] | {"cache_control": _MARK}
    return message | {"content": parts}


def _within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
