"""Claude Code sessions: how they are recognized and listed."""

from typing import Any

from pinfold.adopt.adoption import Adoption
from pinfold.adopt.claude_records import blocks, flag, is_synthetic, usage
from pinfold.adopt.claude_words import by_host, typed
from pinfold.adopt.formats.format import FileLines, FileSummary, Format, Listing
from pinfold.adopt.lines import number_of, object_of, text_of
from pinfold.rollout.summaries import title_of
from pinfold.tokens.catalog import look_up


def _recognizes(record: dict[str, Any]) -> bool:
    return not record.keys().isdisjoint({"sessionId", "parentUuid", "leafUuid", "isSidechain"})


def _read(found: FileLines) -> Adoption:
    from pinfold.adopt import claude

    return claude.read_lines(found.lines, found.file)


def _summarize(summary: FileSummary, record: dict[str, Any]) -> None:
    summary.session = summary.session or text_of(record, "sessionId")
    summary.cwd = summary.cwd or text_of(record, "cwd")
    match record.get("type"):
        case "custom-title" | "ai-title" as kind:
            name = "customTitle" if kind == "custom-title" else "aiTitle"
            summary.title = title_of(text_of(record, name)) or summary.title
        case "user":
            if flag(record, "isSidechain"):
                summary.note = "sub-agent"
            if not summary.title and not flag(record, "isMeta"):
                summary.title = _prompt(record)
        case "assistant" if not is_synthetic(record):
            message = object_of(record, "message")
            summary.model = text_of(message, "model") or summary.model
            summary.limit = look_up(summary.model).context_window
            if (counted := usage(message)) and not flag(record, "isSidechain"):
                summary.used = counted.input + counted.output
        case "system" if record.get("subtype") == "compact_boundary":
            after = number_of(object_of(record, "compactMetadata"), "postTokens")
            summary.used = after or summary.used


def _prompt(record: dict[str, Any]) -> str:
    """The title from a user's message; empty if the host wrote it."""
    content = blocks(object_of(record, "message").get("content"))
    texts = (text_of(block, "text") for block in content if block["type"] == "text")
    users = (text for text in texts if text.strip() and not by_host(text))
    return title_of(typed(next(users, "")))


FORMAT = Format(
    name="claude",
    title="Claude Code",
    file="a Claude Code session",
    recognizes=_recognizes,
    read=_read,
    listing=Listing(
        variable="CLAUDE_CONFIG_DIR",
        folder="~/.claude",
        patterns=("projects/*/*.jsonl",),
        depth=1,  # the files beside a session lie deeper
        end_marks=(b'"usage"', b'"compact_boundary"', b'-title"'),
        summarize=_summarize,
    ),
)
