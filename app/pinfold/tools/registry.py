"""The tools that the agent has, in the order in which the model is told of them."""

from collections.abc import Collection

from pinfold.ports import Tool


def tools(hidden: Collection[str] = ()) -> list[Tool]:
    """All tools; commands don't see the variables that are `hidden`.

    The first call loads pydantic and their argument models.
    """
    from pinfold.tools.apply_patch import ApplyPatch
    from pinfold.tools.edit_file import EditFile
    from pinfold.tools.glob import Glob
    from pinfold.tools.grep import Grep
    from pinfold.tools.list_dir import ListDir
    from pinfold.tools.read_file import ReadFile
    from pinfold.tools.shell import Shell
    from pinfold.tools.update_plan import UpdatePlan
    from pinfold.tools.write_file import WriteFile

    return [
        ReadFile(),
        ListDir(),
        Glob(),
        Grep(),
        EditFile(),
        WriteFile(),
        ApplyPatch(),
        Shell(hidden),
        UpdatePlan(),
    ]
