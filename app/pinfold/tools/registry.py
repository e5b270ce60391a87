"""The agent's tools, in the order in which the model gets them."""

from collections.abc import Collection
from dataclasses import dataclass

from pinfold.ports.tool import Tool


@dataclass(frozen=True, slots=True)
class Web:
    """What the agent may reach on the web."""

    fetch: bool = True
    hosts: Collection[str] = ()
    """Patterns of host names that need no question."""
    private: Collection[str] = ()
    """Hosts that may have addresses of this machine or a private network."""
    search: bool = False
    """Whether the provider searches, where its wire has that."""


def tools(hidden: Collection[str] = (), web: Web | None = None) -> list[Tool]:
    """All tools; commands don't see the variables that are `hidden`. Without `web` none reaches
    the web.

    The first call loads pydantic and their argument models.
    """
    from pinfold.tools.apply_patch import ApplyPatch
    from pinfold.tools.ask_user import AskUser
    from pinfold.tools.download import Downloader
    from pinfold.tools.edit_file import EditFile
    from pinfold.tools.glob import Glob
    from pinfold.tools.grep import Grep
    from pinfold.tools.list_dir import ListDir
    from pinfold.tools.read_file import ReadFile
    from pinfold.tools.shell import ShellTool
    from pinfold.tools.shell_kill import ShellKill
    from pinfold.tools.shell_output import ShellOutput
    from pinfold.tools.update_plan import UpdatePlan
    from pinfold.tools.web_fetch import WebFetch
    from pinfold.tools.web_search import WebSearch
    from pinfold.tools.write_file import WriteFile

    return [
        ReadFile(),
        ListDir(),
        Glob(),
        Grep(),
        EditFile(),
        WriteFile(),
        ApplyPatch(),
        ShellTool(hidden),
        ShellOutput(),
        ShellKill(),
        UpdatePlan(),
        AskUser(),
        *([WebFetch(Downloader(web.private), web.hosts)] if web and web.fetch else ()),
        *([WebSearch()] if web and web.search else ()),
    ]
