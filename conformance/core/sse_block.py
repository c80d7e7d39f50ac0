"""What the lines of an event stream mean: blocks, their fields, and what the standard ignores.

Rules 1 and 2 of `sse.py` are kept here; it cuts the bytes into lines.
"""

from __future__ import annotations

from typing import Final

from conformance.core.events import Frame

DATA: Final = b"data: "
_EVENT: Final = b"event: "
_RETRY_DIGITS: Final = 18
# A bound against servers that invent event names.
_KNOWN_NAMES: Final = 256
_KNOWN_NAME_BYTES: Final = 128


class EventBlock:
    """The block whose blank line has not come yet, and what stays when it has.

    `lines` are its lines, each with LF; while they are empty, no block is open.
    """

    __slots__ = (
        "_data",
        "_event",
        "_id",
        "_named",
        "last_event_id",
        "lines",
        "names",
        "offset",
        "retry",
    )

    def __init__(self) -> None:
        self.retry: int | None = None
        self.last_event_id = ""
        self.names: dict[bytes, str] = {}  # `event: NAME` lines that came, with their names
        self.lines = bytearray()
        self.offset = 0
        self._data = bytearray()  # the standard's data buffer, trailing LF included
        self._event = ""
        self._named = False
        self._id = ""  # the standard's last event ID buffer: not committed yet

    def line(self, line: bytes, offset: int, frames: list[Frame]) -> None:
        """Process one line as the standard says, and report what it would ignore."""
        if not line:
            self._blank(frames)
            return
        if line in self.names:
            self._open(line, offset)
            self._event, self._named = self.names[line], True
            return
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode("utf-8", "replace")
            line = text.encode()
            frames.append(Frame("ignored", "bad-utf8", text, "", offset))
        if line.startswith(b":"):
            frames.append(Frame("comment", "", text[1:], "", offset))
            return
        self._open(line, offset)
        reason = self._field(line)
        if reason:
            frames.append(Frame("ignored", reason, text, "", offset))

    def _open(self, line: bytes, offset: int) -> None:
        """Add the line to the block, which may begin with it."""
        if not self.lines:
            self.offset = offset
        self.lines += line
        self.lines += b"\n"

    def _field(self, line: bytes) -> str:
        """Process one field, valid UTF-8; the reason if the standard ignores it."""
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            self._data += value
            self._data += b"\n"
        elif name == b"event":
            self._event, self._named = value.decode() or "message", True
            self._keep_name(line, self._event)
        elif name == b"id":
            if b"\0" in value:
                return "bad-id"
            self._id = value.decode()
        elif name == b"retry":
            return self._reconnection_time(value)
        else:
            return "unknown-field"
        return ""

    def _reconnection_time(self, value: bytes) -> str:
        # bytes.isdigit knows ASCII digits only; int() takes quadratic time on long numbers.
        if not value.isdigit() or len(value.lstrip(b"0")) > _RETRY_DIGITS:
            return "bad-retry"
        self.retry = int(value[-_RETRY_DIGITS:])
        return ""

    def _blank(self, frames: list[Frame]) -> None:
        if self._data:
            del self._data[-1:]
            self._dispatch(self._data.decode(), frames)
        elif self.lines:
            self.last_event_id = self._id
            del self.lines[-1:]
            text = self.lines.decode()
            frames.append(Frame("ignored", "no-data", text, "", self.offset))
            self._reset()

    def _dispatch(self, text: str, frames: list[Frame]) -> None:
        self.last_event_id = event_id = self._id
        name = self._event or "message"
        frames.append(Frame("event", name, text, event_id, self.offset, self._named))
        self._reset()

    def new_name(self, line: bytes) -> str:
        """The name that an `event: NAME` line gives for the first time; empty for other lines."""
        value = line.removeprefix(_EVENT)
        if value == line:
            return ""
        name = value.decode()
        self._keep_name(line, name)
        return name

    def _keep_name(self, line: bytes, name: str) -> None:
        if len(line) <= _KNOWN_NAME_BYTES and len(self.names) < _KNOWN_NAMES:
            self.names[line] = name

    def completes(self, line: bytes, frames: list[Frame]) -> bool:
        """Dispatch the open block if `line`, its last one, is its only data line, and usual."""
        if self._data or not line.startswith(DATA):
            return False
        try:
            text = line[len(DATA) :].decode()
        except UnicodeDecodeError:
            return False
        self._dispatch(text, frames)
        return True

    def give_up(self) -> None:
        """Forget the block unseen; its id is not committed."""
        self._reset()
        self._id = self.last_event_id

    def _reset(self) -> None:
        """Forget the block; nothing but the id persists."""
        self.lines = bytearray()
        if self._data:
            self._data = bytearray()
        self._event = ""
        self._named = False
