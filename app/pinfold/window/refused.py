"""Why a change of the window was refused."""


class Refused(Exception):
    """The window can't be changed so; `str()` tells the user why."""


class NothingToDo(Refused):
    """Nothing went wrong: there is nothing to change or to show."""
