"""A session as one HTML page that loads nothing from the network."""

import re

from pinfold.export import rich_text
from pinfold.export.document import render as rendered
from pinfold.export.transcript import (
    MARKS,
    ExportedSession,
    arguments,
    diff_of,
    edits,
    marks,
    outcome,
    parts,
    speaker,
    subject,
)
from pinfold.rollout.items import Image
from pinfold.sanitize import clean_output, one_line
from pinfold.window.boundary_text import boundary_line
from pinfold.wire.images import data_url, described

_PICTURE = re.compile(r"image/(?:png|jpeg|gif|webp)")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def render(transcript: ExportedSession) -> str:
    return rendered(
        "export/page",
        images=True,
        title=one_line(transcript.title) or "A session",
        begun=transcript.started_at,
        model=transcript.model.name,
        cwd=transcript.cwd,
        count=len(transcript.entries),
        session=transcript.session,
        parts=parts(transcript),
        MARKS=MARKS,
        arguments=arguments,
        edits=edits,
        boundary_line=boundary_line,
        clean_output=clean_output,
        code=rich_text.code,
        described=described,
        diff_of=diff_of,
        markdown=rich_text.markdown,
        marks=marks,
        outcome=outcome,
        safe_url=_safe_url,
        speaker=speaker,
        subject=subject,
    )


def _safe_url(image: Image) -> str:
    """A picture as a `data:` URL; empty if a browser must not read it."""
    is_picture = _PICTURE.fullmatch(image.media_type) and _BASE64.fullmatch(image.data)
    return data_url(image) if is_picture else ""
