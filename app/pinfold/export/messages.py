"""A session as the body of a Chat Completions request."""

import json

from msgspec.structs import replace

from pinfold.export.pairs import whole
from pinfold.export.transcript import ExportedSession
from pinfold.wire.chat.render import messages, tools


def render(transcript: ExportedSession) -> str:
    """JSON with `model`, `messages` and `tools` that a server accepts."""
    items = whole(entry.item for entry in transcript.entries)
    body = {
        "model": transcript.model.name,
        # What other sessions taught does not leave with this one.
        "messages": messages(replace(transcript.context, memories=None), items, transcript.model),
        "tools": tools(transcript.context),
    }
    # What is not known is left out: an empty list of tools is refused.
    known = {name: value for name, value in body.items() if value or name == "messages"}
    return json.dumps(known, ensure_ascii=False, indent=2) + "\n"
