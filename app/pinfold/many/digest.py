"""The digest of a session, as text or as JSON."""

from typing import Any

import msgspec

from pinfold import paths
from pinfold.adopt import detect
from pinfold.adopt.adoption import Adoption
from pinfold.digests.choice import text_of
from pinfold.sanitize import safe
from pinfold.thinning import Thinned, Thinner, left_out
from pinfold.tokens import encodings


def result(data: bytes, name: str, settings: dict[str, Any]) -> bytes:
    """Settings: `tokens`, `json`, `index`. Raises `NotASession`, `OSError`."""
    adoption = detect.read_bytes(data, name, settings["index"])
    encodings.get("o200k_base", paths.cache_folder())
    thinned = Thinner(adoption.events).thin(settings["tokens"], redact=False)
    if settings["json"]:
        return msgspec.json.encode({"name": name, **as_json(adoption, thinned)})
    return safe(f"{thinned.text}\n" if thinned.text else "").encode()


def as_json(adoption: Adoption, thinned: Thinned) -> dict[str, object]:
    """The digest as plain data: its lines and what was left out."""
    digest = thinned.digest
    return {
        "tool": adoption.tool,
        "session": adoption.session,
        "cwd": adoption.cwd,
        "tokens": thinned.tokens,
        "secrets": thinned.secrets,
        "lines": [
            {"n": line.n, "kind": line.kind, "text": text_of(digest, at)}
            for at, line in enumerate(digest.lines)
        ],
        "left_out": left_out(digest),
    }
