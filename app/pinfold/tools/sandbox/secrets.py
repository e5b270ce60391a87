"""What a command in the sandbox does not get to see: keys, histories, other sessions, sockets."""

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

HOME = """
.ssh .aws .azure .gnupg .netrc .kube .docker/config.json .npmrc .yarnrc .pypirc .git-credentials
.cargo/credentials .cargo/credentials.toml .gem/credentials .vault-token .terraform.d .terraformrc
.s3cfg .boto .pgpass .my.cnf .password-store .pki .authinfo .authinfo.gpg .config/gh .config/hub
.config/gcloud .config/op .config/rclone .config/git/credentials .config/sops .config/pip/pip.conf
.config/containers/auth.json .config/github-copilot .local/share/keyrings .local/share/kwalletd
.bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
.local/share/fish/fish_history .mozilla .thunderbird .config/google-chrome .config/chromium
.config/BraveSoftware .config/Slack .config/discord .config/Signal
.claude .claude.json .codex .gemini .cursor .local/share/opencode .local/share/goose .vibe .kimi .pi
Library/Keychains Library/Cookies Library/Safari
"""
"""In the user's home folder."""
SYSTEM = "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssh"
NAMED = (
    "CODEX_HOME CLAUDE_CONFIG_DIR GNUPGHOME AWS_SHARED_CREDENTIALS_FILE KUBECONFIG DOCKER_CONFIG"
)
"""Variables that name another place for one of them."""
_FOLDERS = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}


def secrets(env: Mapping[str, str] = os.environ) -> set[Path]:
    """Those that are there, resolved."""
    home = Path(env.get("HOME") or "~").expanduser()
    found = {home / name for name in HOME.split()} | {Path(name) for name in SYSTEM.split()}
    for variable, usual in _FOLDERS.items():
        if folder := env.get(variable):
            inner = (name for name in HOME.split() if name.startswith(f"{usual}/"))
            found |= {Path(folder) / name.removeprefix(f"{usual}/") for name in inner}
    found |= {Path(value) for name in NAMED.split() if (value := env.get(name))}
    return existing(found)


def existing(paths: Iterable[Path]) -> set[Path]:
    """The paths that are there and can be read, resolved."""
    return {Path(os.path.realpath(path)) for path in paths if os.access(path, os.R_OK)}


def sockets() -> set[Path]:
    """Unix sockets on which programs of this machine listen: read-only mounts don't close them."""
    try:
        lines = Path("/proc/net/unix").read_text(errors="surrogateescape").splitlines()[1:]
    except OSError:
        return set()
    # Hundreds of them may be gone by now.
    names = {line.split(maxsplit=7)[7] for line in lines if "/" in line}
    return {Path(os.path.realpath(name)) for name in names if _is_socket(name)}


def _is_socket(name: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(name).st_mode)  # noqa: PTH116 - there may be many
    except (OSError, ValueError):
        return False
