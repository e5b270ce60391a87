"""Every setting, frozen; `settings_load.py` reads them."""

from typing import Annotated, Literal

import msgspec
from msgspec import Struct, field

Mode = Literal["read-only", "ask", "workspace", "full"]
MODES: tuple[Mode, ...] = ("read-only", "ask", "workspace", "full")
"""Approval modes, the narrowest first."""


def narrower(one: Mode, other: Mode) -> Mode:
    """The stricter of two modes."""
    return min(one, other, key=MODES.index)


Notify = Literal["auto", "osc9", "osc777", "bell", "off"]
Drift = Literal["always", "after-compaction", "off"]
DRIFTS: tuple[Drift, ...] = ("always", "after-compaction", "off")
"""When an edit of a file that nothing names asks first; the narrowest first."""

Auto = Literal["auto", "ask", "off"]
AUTOS: tuple[Auto, ...] = ("auto", "ask", "off")
"""What happens at the threshold: it is compacted, the user is asked, nothing."""

WireApi = Literal["responses", "chat"]
"""The APIs that endpoints speak."""

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Days = Annotated[float, msgspec.Meta(gt=0)]


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
    """The variable that holds the key; the key itself never is in a file."""
    wire_api: WireApi | None = None
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
    """Requests in one turn before the shell asks whether to continue."""
    max_cost: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """US dollars that one turn may cost."""
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
    user_prompt: tuple[str, ...] = ()
    """May stop a prompt, which goes back into the prompt line, or add to it."""
    pre_tool: tuple[str, ...] = ()
    post_tool: tuple[str, ...] = ()
    pre_compact: tuple[str, ...] = ()
    post_compact: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    """As a turn ends: what stops that has the agent go on, for the reason given."""
    notification: tuple[str, ...] = ()
    """As the user is notified, while the terminal has not the focus."""
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


class WebSettings(_Section, frozen=True):
    fetch: bool = True
    """Whether the agent has `web_fetch`, which asks for each host."""
    hosts: tuple[str, ...] = ()
    """Host names that need no question; `*.python.org` is a pattern."""
    private: tuple[str, ...] = ()
    """Hosts that may have addresses of this machine or of a private network."""
    search: bool = False
    """Whether the provider searches the web for the model, over the Responses API: it asks nobody
    and bills each search."""


class TeamSettings(_Section, frozen=True):
    """A folder whose memories a team shares."""

    folder: Annotated[str, msgspec.Meta(pattern="^/")]
    """Its absolute path."""
    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
    """The team: a role of the database that its members were granted."""


class ServerSettings(_Section, frozen=True):
    """A server that speaks the Model Context Protocol: one with neither `command` nor `url` is
    about the server of that name that a project asks for. `${VAR}` in a text is that variable."""

    command: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    """From the session's folder on."""
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    bearer_env: str = ""
    """The variable that holds the bearer token for the URL."""
    env: dict[str, str] = field(default_factory=dict)
    """Variables that it sees besides the usual ones."""
    enabled: bool = True
    enabled_tools: tuple[str, ...] = ()
    """Only these, where there are any."""
    disabled_tools: tuple[str, ...] = ()
    sandbox: bool | None = None
    """Whether it runs in the sandbox; by default a project's server does, and yours do not."""
    network: bool = False
    """Whether it has the network in the sandbox."""
    startup_timeout: Seconds = 10.0
    tool_timeout: Seconds = 60.0


class McpSettings(_Section, frozen=True):
    """Servers that speak the Model Context Protocol. A project's own config can't set these."""

    budget_pct: Annotated[float, msgspec.Meta(gt=0, le=100)] = 5.0
    """Percent of the context window that their tools may take before servers are folded."""
    servers: dict[str, ServerSettings] = field(default_factory=dict)


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
    database: str | None = None
    """Where teams share memories: `postgresql+psycopg://ROLE@HOST/DATABASE`, without a password."""
    team: tuple[TeamSettings, ...] = ()
    """What is shared with whom. Like `database`, never set by a project."""


class ClusterSettings(_Section, frozen=True):
    """The Dask cluster of `--cluster`. Read from your own config file and flags alone."""

    address: str | None = None
    """Of the scheduler, as `tls://host:8786`: what `--cluster config` stands for."""
    ca_file: str | None = None
    """Certificates for `tls://`, all three PEM files: the authority's, yours, and its key."""
    cert_file: str | None = None
    key_file: str | None = None


class VaultSettings(_Section, frozen=True):
    """Sessions of Codex and Claude Code, kept before those tools delete them."""

    watch: bool = False
    """Whether they are taken in at start and every ten minutes while pinfold runs."""
    max_gb: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    """Gigabytes; the sessions that were not used for longest go first."""
    keep_days: Days | None = None
    """Days since their last use; none keeps them."""


class UiSettings(_Section, frozen=True):
    notify: Notify = "auto"
    """How the terminal tells, while it has not the focus, that a turn has ended or asks."""
    statusline: str = ""
    """A shell command that prints the status line; see `tui/status_command.py`."""
    title: bool = True
    """Whether the terminal's window says where pinfold works and what it does."""
    theme: str = "pinfold"
    vim: bool = False
    """Vim keys in the prompt."""


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
    web: WebSettings = field(default_factory=WebSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    memories: MemorySettings = field(default_factory=MemorySettings)
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    vault: VaultSettings = field(default_factory=VaultSettings)
    ui: UiSettings = field(default_factory=UiSettings)
    keys: dict[str, str] = field(default_factory=dict)
    """Action id -> key, e.g. `interrupt = "f8"`."""
