"""Server-sent events, from bytes, without I/O."""


class EventDecoder:
    """Cuts a stream into the data of its events; comments and other fields are skipped.

    Lines end at CR LF, LF or CR alone: text may hold other separators such as U+2028.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event that is now whole."""
        text = self._rest + chunk
        if b"\r" in text:
            # A CR at the end may be half of a CR LF.
            held = b"\r" if text.endswith(b"\r") else b""
            text = text[: len(text) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        else:
            held = b""
        lines = text.split(b"\n")
        self._rest = lines.pop() + held
        events: list[bytes] = []
        for line in lines:
            self._take(line, events)
        return events

    def end(self) -> list[bytes]:
        """The data of an event whose blank line never came."""
        events: list[bytes] = []
        for line in (self._rest.rstrip(b"\r"), b""):
            self._take(line, events)
        self._rest = b""
        return events

    def _take(self, line: bytes, events: list[bytes]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            events.append(b"\n".join(self._data))
            self._data = []
