"""HTML as a browser reads it."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """What a page is made of; raises where its tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def values(self, name: str) -> list[str]:
        """What all attributes of that name hold."""
        return [value or "" for found, value in self.attributes if found == name]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
