"""Places whose content other programs run later without being asked.

Not among them: what runs because somebody asks, such as a Makefile or a test.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from pinfold.paths import repository_root

GIT = "git runs programs named there"
PLACES = {
    GIT: ".git .hg .gitconfig .config/git",
    "pinfold reads its settings there": ".pinfold .config/pinfold",
    "pinfold reads it in every session": ".local/share/pinfold",
    "editors run its commands when they open the folder": (
        ".vscode .idea .devcontainer .devcontainer.json .zed .helix .nvim.lua .nvimrc .exrc .vimrc "
        ".vim .lvimrc .config/nvim .dir-locals.el .emacs .emacs.d"
    ),
    "shells run its commands": (
        ".envrc .direnvrc .autoenv .autoenv.zsh .mise .mise.toml mise.toml "
        ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv "
        ".zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .config/fish .tmux.conf "
        ".config/tmux"
    ),
    "it runs at login": (
        ".xinitrc .xprofile .xsession .xsessionrc .config/autostart .config/systemd "
        "library/launchagents .ssh"
    ),
    "it runs at the next commit": (
        ".husky .githooks .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml "
        "lefthook.yaml lefthook.toml .lefthook.yml .lefthook.yaml .lefthook .overcommit.yml "
        ".lintstagedrc .lintstagedrc.json .lintstagedrc.yaml lint-staged.config.js"
    ),
    "other agents run its commands": (
        ".claude .codex .cursor .gemini .windsurf .kiro .opencode opencode.json opencode.jsonc "
        ".mcp.json .continue .aider.conf.yml .roo .amp .qwen .vibe"
    ),
    "agents load skills and commands from there": ".agents",
    "it runs at the next push": (
        ".github/workflows .github/actions .gitlab-ci.yml .circleci .gitea/workflows "
        ".forgejo/workflows .woodpecker .woodpecker.yml .buildkite .travis.yml .drone.yml "
        "azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile"
    ),
}
"""Names of files and folders by what runs or reads them, in any folder and in any case."""
BARE = ("HEAD", "objects", "refs")
"""What makes git take a folder for a repository, whatever its name."""
_REASONS = {place: why for why, places in PLACES.items() for place in places.split()}
NAMES = frozenset(place.rpartition("/")[2] for place in _REASONS)
"""What the last part of such a place can be."""


def reason(path: Path, workspace: Path, others: Iterable[Path] = ()) -> str | None:
    """Why a write to `path` needs the user's word; None where it does not.

    `others` are written by the same call. All paths are resolved.
    """
    root = repository_root(workspace) or workspace
    inside = path.relative_to(root) if path.is_relative_to(root) else path
    named = f"/{inside.as_posix().casefold()}/"
    for place, why in _REASONS.items():
        if f"/{place}/" in named:
            return why
    if _in_bare_repository(path, root, others):
        return "git treats the folder as a repository and runs programs named there"
    return None


def place(folder: str, name: str) -> str | None:
    """Why a folder's entry is such a place, by its name or by both names; None if it isn't."""
    name = name.casefold()
    return _REASONS.get(name) or _REASONS.get(f"{folder.casefold()}/{name}")


def _in_bare_repository(path: Path, root: Path, others: Iterable[Path]) -> bool:
    """Whether the write leaves the file in a folder that git takes for a repository."""
    for folder in path.parents:
        written = {
            file.relative_to(folder).parts[0].casefold()
            for file in (path, *others)
            if file.is_relative_to(folder) and file != folder
        }
        if all(name.casefold() in written or os.path.lexists(folder / name) for name in BARE):
            return True
        if folder == root:
            break
    return False
