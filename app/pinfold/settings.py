"""Every setting, frozen; `settings_load.py` reads them."""

from typing import Annotated, Literal

import msgspec
from msgspec import Struct, field

Mode = Literal["read-only", "ask", "workspace", "full"]
MODES: tuple[Mode, ...] = ("read-only", "ask", "workspace", "full")
"""Approval modes, the strictest first."""


def narrower(one: Mode, other: Mode) -> Mode:
    """The stricter of two modes."""
    return min(one, other, key=MODES.index)


Notify = Literal["auto", "osc9", "osc777", "bell", "off"]
Drift = Literal["always", "after-compaction", "off"]
DRIFTS: tuple[Drift, ...] = ("always", "after-compaction", "off")
"""When an edit of a file that nothing names asks first; the strictest first."""

Auto = Literal["auto", "ask", "off"]
AUTOS: tuple[Auto, ...] = ("auto", "ask", "off")
"""What happens at the threshold: compaction, a question, nothing."""

WireApi = Literal["responses", "chat"]
"""The APIs that endpoints speak."""

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Days = Annotated[float, msgspec.Meta(gt=0)]


_OTHER_NAMES = {"hierarchical": "snapshot", "core": "handoff"}


def strategy_named(name: str) -> str:
    """The strategy's present name: `hierarchical` is `snapshot`, `core` is `handoff`."""
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
    """The variable that holds the key; the key is never in a file."""
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
    """Words that no command may contain, in any mode: `git push`."""
    drift: Drift = "after-compaction"
    """When an edit of a file that neither task, plan nor reading named asks first."""


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
    """Share of the usable window that a compaction aims at."""
    min_headroom_tokens: Annotated[int, msgspec.Meta(ge=0)] = 2_048
    max_tail_messages: Count = 12
    user_message_tokens: Annotated[int, msgspec.Meta(ge=0)] = 20_000
    keep_roles: tuple[Literal["tool", "diff", "decision"], ...] = ("tool", "diff", "decision")
    """What `snapshot` keeps while it fits: calls with results, edits, what decisions cite."""
    keep_files_glob: tuple[str, ...] = ("AGENTS.md",)
    mask_threshold_pct: Share = 0.7
    """Share of the usable window from which `layered` masks old output, in batches."""
    model: str | None = None
    """The model that summarises, as `/model` takes it; none is the session's own."""
    context_window: Count | None = None
    """Tokens, of the model that summarises; overrides what the server or the table says."""
    prepare: bool = False
    """Whether `layered` has a model write a summary in the background before the threshold; the
    digest, which costs nothing, usually keeps more."""
    prepare_threshold_pct: Share = 0.70
    prepare_budget_pct: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.10
    """Most that preparing may use, as a share of the tokens that the session's turns used."""

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
    """At the end of a turn; a hook that objects makes the agent continue, and says why."""
    notification: tuple[str, ...] = ()
    """When the user is notified because the terminal is not focused."""
    timeout: Seconds = 30.0
    """For each of them."""


class PriceSettings(_Section, frozen=True):
    """US dollars for a million tokens."""

    input: Annotated[float, msgspec.Meta(ge=0)]
    output: Annotated[float, msgspec.Meta(ge=0)]
    cached: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """Input from the provider's prompt cache; none: the same price."""
    cache_write: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """Input written to it; none: the same price."""


class ToolSettings(_Section, frozen=True):
    env_keep: tuple[str, ...] = ()
    """Variables that commands see although they hold a provider's key."""


class SandboxSettings(_Section, frozen=True):
    enabled: bool = True
    """Whether the agent's commands run in a sandbox, if one works."""
    network: bool = False
    """Whether they may use the network."""
    writable: tuple[str, ...] = ()
    """Folders that they may write to besides the working directory."""


class WebSettings(_Section, frozen=True):
    fetch: bool = True
    """Whether the agent has `web_fetch`, which asks for each host."""
    hosts: tuple[str, ...] = ()
    """Hosts that are fetched without asking; `*.python.org` is a pattern."""
    private: tuple[str, ...] = ()
    """Hosts that may have addresses of this machine or of a private network."""
    search: bool = False
    """Whether the provider searches the web for the model, over the Responses API: it does not ask,
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
    """Relative to the session's folder."""
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    bearer_env: str = ""
    """The variable that holds the bearer token for the URL."""
    env: dict[str, str] = field(default_factory=dict)
    """Extra variables that it sees."""
    enabled: bool = True
    enabled_tools: tuple[str, ...] = ()
    """If not empty, only these."""
    disabled_tools: tuple[str, ...] = ()
    sandbox: bool | None = None
    """Whether it runs in the sandbox; by default a project's server does, and yours do not."""
    network: bool = False
    """Whether it may use the network in the sandbox."""
    startup_timeout: Seconds = 10.0
    tool_timeout: Seconds = 60.0


class McpSettings(_Section, frozen=True):
    """Servers that speak the Model Context Protocol. A project's own config can't set these."""

    budget_pct: Annotated[float, msgspec.Meta(gt=0, le=100)] = 5.0
    """Percent of the context window that their tools may use before servers are folded."""
    servers: dict[str, ServerSettings] = field(default_factory=dict)


class MemorySettings(_Section, frozen=True):
    """Memories of earlier sessions."""

    enabled: bool = False
    """Whether they are made and read; making them with a model costs tokens."""
    generate: Literal["model", "offline", "off"] = "model"
    """With a model, without one, or not at all; without any model, `model` means `offline`."""
    use: bool = True
    """Whether new sessions read them."""
    review: bool = False
    """Whether changes wait until the user accepts them."""
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
    """What is shared with whom. A project can set neither this nor `database`."""


class ClusterSettings(_Section, frozen=True):
    """The Dask cluster of `--cluster`. Read only from your own config file and flags."""

    address: str | None = None
    """Of the scheduler, as `tls://host:8786`: what `--cluster config` stands for."""
    ca_file: str | None = None
    """Certificates for `tls://`, all three PEM files: the authority's, yours, and its key."""
    cert_file: str | None = None
    key_file: str | None = None


class VaultSettings(_Section, frozen=True):
    """Sessions of Codex and Claude Code, kept before those tools delete them."""

    watch: bool = False
    """Whether they are copied at the start and every ten minutes while pinfold runs."""
    max_gb: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    """Gigabytes; the least recently used sessions are removed first."""
    keep_days: Days | None = None
    """Days since their last use; none keeps them."""


class UiSettings(_Section, frozen=True):
    notify: Notify = "auto"
    """How the terminal notifies, when not focused, that a turn has ended or asks."""
    statusline: str = ""
    """A shell command that prints the status line; see `tui/status_command.py`."""
    title: bool = True
    """Whether the terminal's title shows where pinfold works and what it does."""
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
