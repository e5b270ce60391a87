"""`pinfold hook`: gives other agents the digest."""

import argparse
from pathlib import Path

from pinfold import paths
from pinfold.host.app_context import WrongUse
from pinfold.other_agents import install
from pinfold.other_agents.agents import AGENTS, HookRefused, OtherAgent, agent_of, check_version
from pinfold.other_agents.guard import LOG
from pinfold.wiring.stdin import confirmed


def command(arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `OSError`."""
    cwd = Path(getattr(arguments, "cd", ".")).expanduser().resolve()
    root = paths.repository_root(cwd) or cwd
    project = root if arguments.project else None
    try:
        agents = [agent_of(arguments.agent)] if arguments.agent else list(AGENTS)
        if arguments.action == "status":
            for agent in agents:
                _status(agent, root)
            if failure := _last_failure():
                print(f"Last failure: {failure}")
            return 0
        if arguments.agent is None:
            raise WrongUse(f"say which agent: pinfold hook {arguments.action} claude, or codex")
        if arguments.action == "install":
            return _install(agents[0], project, root, yes=arguments.yes)
        return _uninstall(agents[0], project, yes=arguments.yes)
    except HookRefused as error:
        raise WrongUse(str(error)) from error


def _install(agent: OtherAgent, project: Path | None, root: Path, *, yes: bool) -> int:
    version = check_version(agent)
    if there := [*install.found_in(agent, None), *install.found_in(agent, root)]:
        print(f"{agent.title} runs the hook already: {paths.shown(there[0])} names it.")
        return 0
    change = install.installing(agent, project)
    if not _agreed(change, f"Let {agent.title} {version} ask pinfold after compactions?", yes=yes):
        return 1
    install.apply(change, remember=True)
    print(
        f"{agent.title} gets the digest after each compaction, from its next start on. "
        f"`pinfold hook uninstall {agent.name}{' --project' if project else ''}` undoes this."
    )
    for wish in install.wishes(agent, project):
        print(wish)
    return 0


def _uninstall(agent: OtherAgent, project: Path | None, *, yes: bool) -> int:
    found = install.found_in(agent, project)
    if not found:
        where = paths.shown(agent.settings_folder(project))
        print(f"pinfold has no hook in {where}.")
        return 0
    for path in found:
        change = install.removing(path)
        if not _agreed(change, f"Remove the hook from {paths.shown(path)}?", yes=yes):
            return 1
        install.apply(change, remember=False)
        print(f"{paths.shown(path)} is restored.")
    return 0


def _agreed(change: install.SettingsChange, question: str, *, yes: bool) -> bool:
    print(f"{paths.shown(change.path)}:\n{change.diff()}")
    return confirmed(question, yes=yes)


def _status(agent: OtherAgent, root: Path) -> None:
    for project in dict.fromkeys((None, root)):
        where = paths.shown(agent.settings_folder(project))
        if found := install.found_in(agent, project):
            trust = (
                "" if install.is_trusted(agent, found[0]) else ", but not trusted yet: see /hooks"
            )
            print(f"{agent.title}: installed in {paths.shown(found[0])}{trust}.")
        elif project is None:
            print(f"{agent.title}: not installed in {where}.")


def _last_failure() -> str:
    """When and why the hook last failed."""
    try:
        return (paths.home() / LOG).read_text(errors="replace").splitlines()[-1]
    except (OSError, IndexError):
        return ""
