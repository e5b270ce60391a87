"""The formats that can be adopted, in the order in which they are tried on a line.

Another one is a module beside this one with a `FORMAT`, and its line here.
"""

from pinfold.adopt.formats import claude, codex, messages, own
from pinfold.adopt.formats.format import Format, Listing

FORMATS: tuple[Format, ...] = (
    codex.FORMAT,
    own.FORMAT,
    claude.FORMAT,
    messages.FORMAT,
)
BY_NAME = {form.name: form for form in FORMATS}
LISTINGS: dict[str, Listing] = {
    form.name: form.listing for form in FORMATS if form.listing is not None
}
"""Of the tools whose sessions are listed and kept in the vault, by the format's name."""
