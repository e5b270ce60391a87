"""Why the window stays as it is."""


class Refused(Exception):
    """A change of the window that can't be made; `str()` tells the user why."""


class NothingToDo(Refused):
    """Nothing went wrong: there is nothing to change or to show."""
