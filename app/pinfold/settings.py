"""Settings: flags > environment > the project's file > the user's file, frozen.

Every source is checked on its own, so that an error names the file or variable it comes from.
The environment spells a key as `PINFOLD_MODEL__CONTEXT_WINDOW=8192`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct, field

from pinfold.paths import shown
from pinfold.small_files import read_text

Mode = Literal["read-only", "ask", "workspace", "full"]
MODES: tuple[Mode, ...] = ("read-only", "ask", "workspace", "full")
"""Approval modes, the narrowest first."""

Drift = Literal["always", "after-compaction", "off"]
DRIFTS: tuple[Drift, ...] = ("always", "after-compaction", "off")
"""When an edit of a file that nothing names asks first; the narrowest first."""

Auto = Literal["auto", "ask", "off"]
AUTOS: tuple[Auto, ...] = ("auto", "ask", "off")
"""What happens at the threshold: it is compacted, the user is asked, nothing."""

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Days = Annotated[float, msgspec.Meta(gt=0)]


_ALSO = {
    "PINFOLD_MODEL_CONTEXT_WINDOW_TOKENS": ("model", "context_window"),
    "PINFOLD_COMPACT_MODEL_CONTEXT_WINDOW_TOKENS": ("compact", "context_window"),
}
"""Variables with a name of their own; a section's own variable beats them."""


_LISTS = frozenset(
    {
        "approvals.allow",
        "approvals.deny",
        "compact.keep_roles",
        "compact.keep_files_glob",
        "sandbox.writable",
        "tools.env_keep",
    }
)

MAX_BYTES = 262_144
"""Of a config file."""


_OTHER_NAMES = {"hierarchical": "snapshot", "core": "handoff"}


def strategy_named(name: str) -> str:
    """The strategy's own name, where it has another: `hierarchical` is `snapshot`."""
    return _OTHER_NAMES.get(name, name)


class SettingsError(Exception):
    """A setting cannot be used; `str()` names its source and says why."""


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class ModelSettings(_Section, frozen=True):
    name: str | None = None
    provider: str | None = None
    """A key of `[providers]`, a well-known name such as `openai`, or `embedded`."""
    context_window: Count | None = None
    """Tokens; overrides what the server or the table says."""
    max_output: Count | None = None
    """Tokens that one reply may have."""
    reasoning_effort: str | None = None


class ProviderSettings(_Section, frozen=True):
    base_url: str
    api_key_env: str | None = None
    """The variable that holds the key; the key itself never stands in a file."""
    wire_api: Literal["responses", "chat"] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    connect_timeout: Seconds = 10.0
    first_byte_timeout: Seconds = 300.0
    idle_timeout: Seconds = 120.0


class ApprovalSettings(_Section, frozen=True):
    mode: Mode = "ask"
    allow: tuple[str, ...] = ()
    """Command prefixes that run without a question."""
    deny: tuple[str, ...] = ()
    """Words that no command may have, in no mode: `git push`."""
    drift: Drift = "after-compaction"
    """When an edit asks first of a file that neither the task, the plan nor what was read names."""


class AgentSettings(_Section, frozen=True):
    max_steps: Count = 50
    """Requests in one turn before the shell asks whether to go on."""
    max_retries: Annotated[int, msgspec.Meta(ge=0)] = 6
    turn_metadata: bool = True
    """Whether requests carry a header that says what they are for."""
    prewarm: bool = False
    """Whether a first request, while the user types, opens the connection and warms the cache."""


class CompactSettings(_Section, frozen=True):
    auto: Auto = "auto"
    auto_compact_threshold_pct: Share = 0.85
    """Of the usable window: the context window without the room kept for the reply."""
    mode: str = "layered"
    """The strategy; `hierarchical` is read as `snapshot`, `core` as `handoff`."""
    target_pct: Share = 0.35
    """Of the usable window, that a compaction aims at."""
    min_headroom_tokens: Annotated[int, msgspec.Meta(ge=0)] = 2_048
    max_tail_messages: Count = 12
    user_message_tokens: Annotated[int, msgspec.Meta(ge=0)] = 20_000
    keep_roles: tuple[Literal["tool", "diff", "decision"], ...] = ("tool", "diff", "decision")
    """What `snapshot` keeps while it fits: calls with results, edits, what decisions cite."""
    keep_files_glob: tuple[str, ...] = ("AGENTS.md",)
    mask_threshold_pct: Share = 0.7
    """Of the usable window, from which on `layered` masks old bodies in batches."""
    model: str | None = None
    """The model that summarises, as `/model` takes it; none is the session's own."""
    context_window: Count | None = None
    """Tokens, of the model that summarises; overrides what the server or the table says."""
    prepare: bool = False
    """Whether `layered` has a model write a summary in the background before the threshold; the
    digest, which costs nothing, usually keeps more."""
    prepare_threshold_pct: Share = 0.70
    prepare_budget_pct: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.10
    """Of the tokens that the session's turns have used, that preparing may use at most."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "mode", strategy_named(self.mode))


class HookSettings(_Section, frozen=True):
    """Shell commands by moment; see `agent/hooks.py`."""

    session_start: tuple[str, ...] = ()
    pre_tool: tuple[str, ...] = ()
    post_tool: tuple[str, ...] = ()
    pre_compact: tuple[str, ...] = ()
    post_compact: tuple[str, ...] = ()
    timeout: Seconds = 30.0
    """For each of them."""


class PriceSettings(_Section, frozen=True):
    """US dollars for a million tokens."""

    input: Annotated[float, msgspec.Meta(ge=0)]
    output: Annotated[float, msgspec.Meta(ge=0)]
    cached: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """For input that comes from the provider's prompt cache; none where it costs as much."""
    cache_write: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """For input that is put into it; none where it costs as much."""


class ToolSettings(_Section, frozen=True):
    env_keep: tuple[str, ...] = ()
    """Variables that commands see though they hold the key of a provider."""


class SandboxSettings(_Section, frozen=True):
    enabled: bool = True
    """Whether the agent's commands run in a sandbox, where one works."""
    network: bool = False
    """Whether they have the network there."""
    writable: tuple[str, ...] = ()
    """Folders that they may write besides the working directory."""


class MemorySettings(_Section, frozen=True):
    """Memories of earlier sessions."""

    enabled: bool = False
    """Whether they are made and read at all; making them with a model costs tokens."""
    generate: Literal["model", "offline", "off"] = "model"
    """By a model, without one, or not at all. `model` is `offline` where there is no model."""
    use: bool = True
    """Whether new sessions read them."""
    review: bool = False
    """Whether what a consolidation changes waits until it is accepted."""
    include_adopted: bool = False
    """Whether sessions that were adopted from other tools are read."""
    extract_model: str | None = None
    """The model that reads a session, as `/model` takes it; none is the session's own."""
    consolidation_model: str | None = None
    max_rollout_age_days: Days = 30
    min_rollout_idle_hours: Annotated[float, msgspec.Meta(ge=0)] = 6
    max_rollouts_per_startup: Count = 16
    max_raw_memories_for_consolidation: Count = 256
    max_unused_days: Days = 30


class UiSettings(_Section, frozen=True):
    theme: str = "pinfold"


class Settings(_Section, frozen=True):
    """All settings; each field is one section of the file."""

    model: ModelSettings = field(default_factory=ModelSettings)
    providers: dict[str, ProviderSettings] = field(default_factory=dict)
    approvals: ApprovalSettings = field(default_factory=ApprovalSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    compact: CompactSettings = field(default_factory=CompactSettings)
    hooks: HookSettings = field(default_factory=HookSettings)
    prices: dict[str, PriceSettings] = field(default_factory=dict)
    """By model: `gpt-5.2` or `openai/gpt-5.2`."""
    tools: ToolSettings = field(default_factory=ToolSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    memories: MemorySettings = field(default_factory=MemorySettings)
    ui: UiSettings = field(default_factory=UiSettings)
    keys: dict[str, str] = field(default_factory=dict)
    """Action id -> key, e.g. `interrupt = "f8"`."""


class Loaded(Struct, frozen=True):
    """The settings, and where they come from."""

    settings: Settings
    origins: Mapping[str, str]
    """`model.name` -> the source that set it; what is absent is a default."""
    files: tuple[Path, ...]
    warnings: tuple[str, ...]


def load(
    *,
    env: Mapping[str, str],
    user_file: Path,
    project_file: Path,
    trusted: bool,
    flags: Mapping[str, Any],
) -> Loaded:
    """Read and merge every source. `flags` are dotted keys. Raises `SettingsError`."""
    warnings: list[str] = []
    files: list[Path] = []
    layers: list[tuple[str, dict[str, Any]]] = []
    for path in (user_file, project_file):
        data = _read(path)
        if data is None:
            continue
        files.append(path)
        if path == project_file and not trusted:
            data, waiting = _narrowed(data, layers)
            if waiting:
                warnings.append(f"{shown(path)}: {_waits(waiting)}")
        layers.append((shown(path), _checked(data, shown(path))))
    for source, data in (
        ("the environment", _from_environment(env)),
        ("a flag", _nested(flags)),
    ):
        layers.append((source, _checked(data, source)))

    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for source, data in layers:
        for section, values in data.items():
            target = merged.setdefault(section, {})
            for key, value in values.items():
                if isinstance(value, dict) and isinstance(target.get(key), dict):
                    value = {**target[key], **value}  # noqa: PLW2901
                target[key] = value
                origins[f"{section}.{key}"] = source
    settings = msgspec.convert(merged, Settings, strict=False)
    return Loaded(settings, origins, tuple(files), tuple(warnings))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        text = read_text(path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{shown(path)} can't be read: {error.strerror or error}") from error
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise SettingsError(f"{shown(path)} is nested too deeply") from error
    except ValueError as error:
        raise SettingsError(f"{shown(path)} is not valid TOML: {error}") from error


def _checked(data: dict[str, Any], source: str) -> dict[str, Any]:
    try:
        msgspec.convert(data, Settings, strict=False)
    except msgspec.ValidationError as error:
        from pinfold.settings_check import complaint

        why = complaint(data, Settings) or "these settings can't be used"
        raise SettingsError(f"{source}: {why}") from error
    return data


def _narrowed(
    data: dict[str, Any], below: list[tuple[str, dict[str, Any]]]
) -> tuple[dict[str, Any], list[str]]:
    """What a project that the user has not trusted may set, and the names of the rest."""
    kept: dict[str, Any] = {}
    waiting: list[str] = []
    for section, values in data.items():
        if not isinstance(values, dict):
            waiting.append(section)
            continue
        for key, value in values.items():
            name = f"{section}.{key}"
            if _narrows(name, value, below):
                kept.setdefault(section, {})[key] = value
            else:
                waiting.append(name)
    return kept, waiting


def _narrows(name: str, value: Any, below: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether a setting lets less happen than what is set `below`, or only changes colours."""
    match name:
        case "approvals.mode":
            now = MODES.index(_set_last(name, "ask", below))
            return value in MODES[: now + 1]
        case "approvals.drift":
            now = DRIFTS.index(_set_last(name, "after-compaction", below))
            return value in DRIFTS[: now + 1]
        case "compact.auto" | "memories.generate":
            return bool(value == "off")
        case "compact.prepare" | "agent.prewarm" | "memories.enabled" | "memories.use":
            return value is False
        case "ui.theme":
            return isinstance(value, str)
    return False


def _waits(names: list[str]) -> str:
    from pinfold.closest import listed

    wait = "waits" if len(names) == 1 else "wait"
    return f"{listed(names)} {wait} until you trust this folder (/trust)"


def _set_last(name: str, default: str, below: list[tuple[str, dict[str, Any]]]) -> Any:
    section, _, key = name.partition(".")
    found = (layer[section][key] for _, layer in reversed(below) if key in layer.get(section, {}))
    return next(found, default)


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, path in _ALSO.items():
        if value := env.get(name):
            _put(found, list(path), value, "the environment")
    for name, value in env.items():
        if not name.startswith("PINFOLD_") or "__" not in name or not value:
            continue
        section, _, key = name.removeprefix("PINFOLD_").lower().partition("__")
        _put(found, [section, *key.split("__")], value, "the environment")
    return found


def _nested(flags: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for dotted, value in flags.items():
        if value is not None:
            _put(out, dotted.split("."), value, "a flag")
    return out


def _put(target: dict[str, Any], path: list[str], value: str, source: str) -> None:
    for length, part in enumerate(path[:-1], 1):
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            above = ".".join(path[:length])
            raise SettingsError(f"{source}: both {above} and {'.'.join(path)} are set")
    target[path[-1]] = value.split(",") if ".".join(path) in _LISTS else value
