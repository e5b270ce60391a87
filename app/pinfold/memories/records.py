"""The contents of `memories.db` as plain values, and its error."""

from typing import Literal

from msgspec import Struct

JobKind = Literal["extract", "consolidate"]
JobOutcome = Literal["succeeded", "succeeded_no_output"]


class StateError(Exception):
    """The database can't be used; `str()` is a plain sentence for the user."""


class SessionCandidate(Struct, frozen=True):
    """A session that may be read."""

    session: str
    rollout_path: str
    cwd: str
    source_updated_at: float
    """When its rollout last changed."""


class Claim(Struct, frozen=True):
    """A job that is ours until its lease ends; every use checks the token."""

    kind: JobKind
    key: str
    token: str
    input_watermark: float
    """The newest input when it was claimed."""


class Extracted(Struct, frozen=True):
    """The record that phase 1 makes of a session."""

    raw_memory: str
    rollout_summary: str
    rollout_slug: str = ""


class Output(Struct, frozen=True):
    """A row of `stage1_outputs`."""

    session_id: str
    host: str
    rollout_path: str
    cwd: str
    source_updated_at: float
    generated_at: float
    raw_memory: str
    rollout_summary: str
    rollout_slug: str
    usage_count: int
    last_usage: float | None
    selected_for_phase2: bool
    selected_for_phase2_source_updated_at: float | None


class JobRow(Struct, frozen=True):
    """A row of `jobs`, without its token."""

    kind: JobKind
    key: str
    host: str
    status: Literal["running", "succeeded", "succeeded_no_output", "failed", "released"]
    lease_until: float | None
    retry_at: float | None
    attempts: int
    error: str | None
    input_watermark: float | None
    completed_watermark: float | None
