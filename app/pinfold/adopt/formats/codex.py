"""Codex rollouts: how they are recognized and listed."""

import re
from typing import Any

from pinfold.adopt import codex_items
from pinfold.adopt.adoption import Adoption
from pinfold.adopt.formats.format import FileLines, FileSummary, Format, Listing
from pinfold.adopt.lines import number_of, object_of, text_of
from pinfold.rollout.acts import without
from pinfold.rollout.summaries import title_of

_ROLLOUT = re.compile(r"^rollout-\d{4}-\d\d-\d\dT[\d-]+?-(?=[0-9a-f]{8}-)")
"""What stands before the id in a file's name."""


def _recognizes(record: dict[str, Any]) -> bool:
    if isinstance(record.get("payload"), dict) or "record_type" in record:
        return True
    return "type" not in record and record.keys() >= {"id", "timestamp", "instructions"}


def _read(found: FileLines) -> Adoption:
    from pinfold.adopt import codex

    return codex.read_lines(found.lines, found.file)


def _summarize(summary: FileSummary, record: dict[str, Any]) -> None:
    payload = record.get("payload")
    kind = record.get("type")
    if not isinstance(payload, dict):
        payload, kind = record, "session_meta" if "id" in record else "response_item"
    match kind:
        case "session_meta" if not summary.session:
            summary.session, summary.cwd = text_of(payload, "id"), text_of(payload, "cwd")
            if isinstance(payload.get("source"), dict):
                summary.note = "sub-agent"
        case "turn_context":
            summary.model = text_of(payload, "model") or summary.model
        case "event_msg" if text_of(payload, "type") == "token_count":
            info = object_of(payload, "info")
            last = object_of(info, "last_token_usage")
            counted = number_of(last, "input_tokens") + number_of(last, "output_tokens")
            summary.used = number_of(last, "total_tokens") or counted or summary.used
            summary.limit = number_of(info, "model_context_window") or summary.limit
        case "response_item" if not summary.title:
            entry = codex_items.entry(payload)
            if entry is not None and entry.kind == "user":
                summary.title = title_of(without(entry.content, entry.detail.get("host", ())))


def _session_of(stem: str) -> str:
    return _ROLLOUT.sub("", stem)


FORMAT = Format(
    name="codex",
    title="Codex",
    file="a Codex rollout",
    recognizes=_recognizes,
    read=_read,
    sets_up=codex_items.sets_up,
    listing=Listing(
        variable="CODEX_HOME",
        folder="~/.codex",
        patterns=(
            "sessions/**/*.jsonl",
            "sessions/**/*.jsonl.zst",
            "archived_sessions/*.jsonl",
            "archived_sessions/*.jsonl.zst",
        ),
        depth=8,
        end_marks=(b'"token_count"', b'"turn_context"'),
        summarize=_summarize,
        session_of=_session_of,
    ),
)
