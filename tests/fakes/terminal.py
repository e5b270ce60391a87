"""Standard input as a terminal gives it."""

import io


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True
