"""Claude Code sessions (`~/.claude/projects/<folder>/<session>.jsonl`) as an adoption."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.claude_acts import kept
from pinfold.adopt.claude_chain import ChainNode
from pinfold.adopt.claude_records import (
    LINKED,
    SILENT,
    Block,
    Record,
    blocks,
    flag,
    image,
    is_synthetic,
    parents_first,
)
from pinfold.adopt.claude_replies import Replies
from pinfold.adopt.claude_thread import Thread
from pinfold.adopt.claude_words import INTERRUPTED, by_host, detail_of, is_command
from pinfold.adopt.lines import compact, object_of, records, text_of, time_of
from pinfold.numbers import plural
from pinfold.rollout.items import Image, Item, Kind

_UNREAD = ("data", "snapshot", "todos")
"""Large fields that are not read."""
HOST = {"act": "host"}


def read_lines(lines: Iterable[bytes], file: Path) -> Adoption:
    """The session in the lines of `file`. Raises `NotASession`."""
    return _Reader(file).read(lines)


class _Reader:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._thread = Thread(file)
        self._builder = self._thread.builder
        self._replies = Replies(self._thread)
        self._before = self._thread.at
        """The time of the record before this one."""
        self._branch = ""
        self._leaf = ""
        """The leaf that was named since the last message."""
        self._titles: dict[str, str] = {}
        self._interrupted = False
        self._is_agent = False
        """Whether the file is a sub-agent's: all of it is a side chain, and nobody typed it."""

    def read(self, lines: Iterable[bytes]) -> Adoption:
        every = self._records(lines)
        linked = [record for record in every if text_of(record, "type") in LINKED]
        self._is_agent = bool(linked) and all(flag(record, "isSidechain") for record in linked)
        for record in linked if self._is_agent else ():
            del record["isSidechain"]
        for record in parents_first(every):
            self._before = self._thread.at
            self._thread.at = time_of(record) or self._thread.at
            if text_of(record, "type") in LINKED:
                self._linked(record)
            else:
                self._loose(record)
        if not self._builder.items:
            raise NotASession(f"{self._file} is a Claude Code session without any messages.")
        return self._finish()

    def _records(self, lines: Iterable[bytes]) -> list[Record]:
        found: list[Record] = []
        for record in records(lines, self._builder):
            uuid = text_of(record, "uuid")
            if uuid and uuid in self._thread.parents:
                self._builder.skip("repeated line")
                continue
            for key in _UNREAD:
                record.pop(key, None)
            if "toolUseResult" in record:
                record["toolUseResult"] = kept(record["toolUseResult"])
            if uuid:
                self._thread.parents[uuid] = text_of(record, "parentUuid")
            if record.get("type") == "assistant":
                self._replies.foresee(record)
            found.append(record)
        return found

    def _loose(self, record: Record) -> None:
        match record:
            case {"type": "queue-operation"}:
                self._thread.queue.step(record)
            case {"type": "last-prompt", "leafUuid": str(leaf)}:
                self._leaf = leaf
            case {"type": "custom-title", "customTitle": str(title)}:
                self._titles["custom"] = title
            case {"type": "ai-title", "aiTitle": str(title)}:
                self._titles["ai"] = title
            case {"type": "summary", "summary": str(title), "leafUuid": str(leaf)}:
                if leaf in self._thread.parents:  # else it is another session's
                    self._titles["summary"] = title
            case _:
                kind = text_of(record, "type")
                if kind not in SILENT:
                    self._builder.skip(kind or "line without a type")

    def _linked(self, record: Record) -> None:
        self._leaf = ""
        cwd = text_of(record, "cwd")
        self._thread.cwd = self._thread.cwd or cwd
        self._branch = text_of(record, "gitBranch") or self._branch
        session, version = text_of(record, "sessionId"), text_of(record, "version")
        self._builder.start(self._thread.at, session=session, cwd=cwd, version=version)
        aside = flag(record, "isSidechain")
        match record["type"]:
            case "user" if flag(record, "isCompactSummary") and not aside:
                content = blocks(object_of(record, "message").get("content"))
                self._thread.compact(record, "\n".join(text_of(block, "text") for block in content))
            case "user":
                self._user(record)
            case "assistant":
                self._assistant(record)
            case "attachment":
                self._attachment(record)
            case "system" if not aside:
                self._system(record)
            case _ if not aside:
                self._thread.follow(record)

    def _system(self, record: Record) -> None:
        match record.get("subtype"):
            case "compact_boundary":
                self._thread.boundary(record)
            case "microcompact_boundary":
                self._thread.follow(record)
                self._replies.mask(record)
            case "local_command":
                node = self._thread.node(record)
                text = text_of(record, "content")
                item = Item(n=0, kind="context", content=text, detail=detail_of(text))
                self._thread.add(record, node, item)
            case _:
                self._thread.follow(record)

    def _assistant(self, record: Record) -> None:
        if is_synthetic(record):
            node = self._thread.node(record)
            for block in blocks(object_of(record, "message").get("content")):
                text = text_of(block, "text")
                item = Item(n=0, kind="context", content=text, detail=HOST)
                self._thread.add(record, node, item)
            return
        if not flag(record, "isSidechain"):
            self._begin_turn()
        self._replies.add(record)

    # What the user or the host said

    def _user(self, record: Record) -> None:
        node: ChainNode | None = None
        texts: list[str] = []
        images: list[Image] = []
        for block in blocks(object_of(record, "message").get("content")):
            if block["type"].endswith("tool_result"):
                node = self._replies.result(record, block)
            else:
                self._collect(block, texts, images)
        if texts or images:
            self._add_message(record, node, texts, images)
        elif node:
            self._thread.chain.link(text_of(record, "uuid"), node)
        elif not flag(record, "isSidechain"):
            self._thread.follow(record)

    def _add_message(
        self, record: Record, after: ChainNode | None, texts: Sequence[str], images: Sequence[Image]
    ) -> None:
        aside = flag(record, "isSidechain")
        if aside or flag(record, "isMeta"):
            node = self._thread.node(record, after)
            item = Item(
                n=0, kind="context", content="\n".join(texts), images=tuple(images), detail=HOST
            )
            self._thread.add(record, node, item)
            return
        notices = [text for text in texts if by_host(text)]
        words = [text for text in texts if not by_host(text)]
        for text in notices:
            self._heed(text)
        if words or images:
            self._end_turn()
            self._begin_turn()
        node = self._thread.node(record, after, settle=True)
        for text in notices:
            item = Item(n=0, kind="context", content=text, detail=detail_of(text))
            self._thread.add(record, node, item)
        if words or images:
            text = "\n".join(words)
            detail = {"act": "host", "pasted": []} if self._is_agent else detail_of(text)
            item = Item(n=0, kind="user", content=text, images=tuple(images), detail=detail)
            self._thread.add(record, node, item)

    def _attachment(self, record: Record) -> None:
        """What the host attached; or a prompt that came while the agent worked."""
        attachment = object_of(record, "attachment")
        if attachment.get("type") != "queued_command":
            node = self._thread.node(record)
            text = compact(record.get("attachment"))
            item = Item(n=0, kind="context", content=text, detail=HOST)
            self._thread.add(record, node, item)
            return
        texts: list[str] = []
        images: list[Image] = []
        for block in blocks(attachment.get("prompt")):
            self._collect(block, texts, images)
        text = "\n".join(texts)
        self._thread.queue.repeated(text)
        aside = flag(record, "isMeta") or flag(record, "isSidechain")
        typed = attachment.get("commandMode", "prompt") == "prompt"
        own = typed and not (aside or by_host(text))
        node = self._thread.node(record)
        kind: Kind = "user" if own else "context"
        detail = detail_of(text) if own or (by_host(text) and not aside) else HOST
        item = Item(n=0, kind=kind, content=text, images=tuple(images), detail=detail)
        self._thread.add(record, node, item)

    def _collect(self, block: Block, texts: list[str], images: list[Image]) -> None:
        picture = image(block)
        if picture:
            images.append(picture)
        elif block["type"] == "text":
            texts += filter(None, [text_of(block, "text")])
        else:
            self._builder.skip(f"{block['type']} block")

    # Turns

    def _heed(self, text: str) -> None:
        """A command to the host ends the turn; an interruption says how it ended."""
        if text.startswith(INTERRUPTED):
            self._interrupted = True
        elif is_command(text):
            self._end_turn()

    def _begin_turn(self) -> None:
        if not self._builder.turn_open:
            self._builder.turn(self._thread.at)

    def _end_turn(self) -> None:
        self._builder.end_turn(self._before, "interrupted" if self._interrupted else "done")
        self._interrupted = False

    def _finish(self) -> Adoption:
        self._before = self._thread.at
        if not self._thread.waiting:
            self._end_turn()
        self._thread.finish(self._leaf)
        if self._branch:
            self._builder.note(f"It last worked on the Git branch {self._branch}.")
        if self._is_agent:
            self._builder.note("This is a sub-agent's session.")
        agents = len(list(self._file.with_suffix("").glob("subagents/agent-*.jsonl")))
        if agents:
            self._builder.note(f"Not adopted: {plural(agents, 'transcript')} of its sub-agents.")
        adoption = self._builder.finish()
        named = [self._titles.get(kind) for kind in ("custom", "ai", "summary")]
        return replace(adoption, title=next(filter(None, named), adoption.title))
