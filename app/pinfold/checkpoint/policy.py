"""Text as patterns expect it."""

import re
import unicodedata

_INVISIBLE = re.compile("[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_QUOTES = re.compile(r"[\"“”„«»‹›*`#>]+|(?<!\w)['‘’_]+|['‘’_]+(?!\w)")


def normal(text: str) -> str:
    """`text` as the patterns expect it: lower case, without accents, quotes and markup."""
    plain = _QUOTES.sub(" ", _INVISIBLE.sub("", text)).replace("’", "'")
    if plain.isascii():  # much quicker, and most text is
        return plain.casefold()
    apart = unicodedata.normalize("NFKD", plain)
    return "".join(char for char in apart if not unicodedata.combining(char)).casefold()
