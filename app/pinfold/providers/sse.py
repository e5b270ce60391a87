"""Server-sent events, from bytes, without I/O."""

MAX_LINE = 16_777_216
"""Bytes of a line, and of all the data of one event."""


class TooLong(Exception):
    """A line, or an event, is longer than `MAX_LINE`."""


class EventDecoder:
    """Cuts a stream into the data of its events; comments and other fields are skipped.

    Lines end at CR LF, LF or CR alone: text may hold other separators such as U+2028.
    """

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        """The pieces of a line whose end has not come."""
        self._begun_size = 0
        self._after_cr = False
        """The last chunk ended in CR; a LF that begins the next one is the same line end."""
        self._data: list[bytes] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event that is now whole. Raises `TooLong`."""
        if not chunk:
            return []
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        self._begin(lines[0])
        if len(lines) == 1:
            return []
        lines[0] = self._line()
        events: list[bytes] = []
        for line in lines[:-1]:
            self._take(line, events)
        self._begin(lines[-1])
        return events

    def end(self) -> list[bytes]:
        """The data of an event whose blank line never came. Raises `TooLong`."""
        events: list[bytes] = []
        for line in (self._line(), b""):
            self._take(line, events)
        return events

    def _begin(self, piece: bytes) -> None:
        if piece:
            self._begun.append(piece)
            self._begun_size += len(piece)
            if self._begun_size > MAX_LINE:
                raise TooLong

    def _line(self) -> bytes:
        line = b"".join(self._begun)
        self._begun, self._begun_size = [], 0
        return line

    def _take(self, line: bytes, events: list[bytes]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._data_size += len(line)
            if self._data_size > MAX_LINE:
                raise TooLong
        elif not line and self._data:
            events.append(b"\n".join(self._data))
            self._data, self._data_size = [], 0
