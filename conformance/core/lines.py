"""Lines of JSON: bytes in, one frame a line out (https://github.com/ndjson/ndjson-spec).

Rule 1: a line ends at LF; a CR before it belongs to the line end, and so does the end of the
stream where the last line is whole. A CR anywhere else is text. One leading BOM is stripped, and
so is a U+001E in front of a value (https://www.rfc-editor.org/rfc/rfc7464).
Rule 2: a line of white space yields nothing, as a blank line of an event stream does: servers send
some to keep a connection open. Any other line yields a frame of kind `line`, also where it holds
no JSON: what it says of the stream is the reader's business.
Rule 3: what a client cannot use is reported as `sse.py` does it, in frames of kind `ignored-line`:
`bad-utf8` before the line itself, whose broken bytes are U+FFFD; `unfinished` for a last line that
has no end and holds no JSON value either, so it was cut; `too-long` without data for a line past
`max_line_bytes`, which is skipped unseen up to its end.
Rule 4: frames depend on the bytes alone, never on how they were cut into chunks.
Rule 5: time is linear in the bytes; memory is a small multiple of the longest line or chunk.
"""

from __future__ import annotations

from typing import Final

from conformance.core.errors import HarnessError
from conformance.core.events import Frame
from conformance.core.json_values import NOT_JSON, decode_json

BOM: Final = b"\xef\xbb\xbf"
_RECORD_SEPARATOR: Final = b"\x1e"


class LineParser:
    """Parses one stream of lines, incrementally and without I/O. Input is never refused."""

    def __init__(self, *, max_line_bytes: int = 64 * 1024 * 1024) -> None:
        self._max = max_line_bytes
        self._closed = False
        self._started = False  # the BOM, if any, has been read
        self._partial = bytearray()  # the line that has not ended yet
        self._offset = 0  # where it begins
        self._skipped = 0  # bytes of a line that was too long; 0: this line is not skipped

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that these bytes complete. Raises HarnessError after `close`."""
        if self._closed:
            raise HarnessError("a parser of lines was fed after close")
        frames: list[Frame] = []
        if not self._started:
            data = self._strip_bom(data)
        lines = data.split(b"\n")
        rest = lines.pop()
        for line in lines:
            self._extend_line(line, frames)
            self._end_line(frames)
        self._extend_line(rest, frames)
        return frames

    @property
    def is_between(self) -> bool:
        """Whether the next byte begins a line."""
        return self._started and not (self._partial or self._skipped)

    @property
    def position(self) -> int:
        """Where the next line begins; valid between lines."""
        return self._offset

    def skip(self, size: int) -> None:
        """Skips whole lines that the caller has read itself; to be called between lines."""
        self._offset += size

    def close(self) -> list[Frame]:
        """End the stream: the last line, where it has no LF. A second call yields none."""
        frames: list[Frame] = []
        self._closed = True
        line = bytes(self._partial)
        if line.strip():
            text = line.decode("utf-8", "replace")
            if decode_json(_value_text(text)) is NOT_JSON:
                # The cut may be inside a character: that is not `bad-utf8`.
                frames.append(Frame("ignored-line", "unfinished", text, "", self._offset))
            else:
                self._end_line(frames)
        self._partial = bytearray()
        return frames

    def _strip_bom(self, data: bytes) -> bytes:
        """Strip the BOM; hold the bytes back while they may be the beginning of one."""
        data = bytes(self._partial) + data
        self._started = len(data) >= len(BOM) or not BOM.startswith(data)
        self._partial = bytearray() if self._started else bytearray(data)
        if not self._started:
            return b""
        if data.startswith(BOM):
            self._offset = len(BOM)
        return data[self._offset :]

    def _extend_line(self, data: bytes, frames: list[Frame]) -> None:
        """Lengthen the line; give it up where it is too long."""
        if self._skipped:
            self._skipped += len(data)
        elif len(self._partial) + len(data) > self._max:
            frames.append(Frame("ignored-line", "too-long", "", "", self._offset))
            self._skipped = len(self._partial) + len(data)
            self._partial = bytearray()
        elif self._started:
            self._partial += data

    def _end_line(self, frames: list[Frame]) -> None:
        size = self._skipped or len(self._partial)
        line = bytes(self._partial).removesuffix(b"\r")
        if line.strip():
            try:
                text = line.decode()
            except UnicodeDecodeError:
                text = line.decode("utf-8", "replace")
                frames.append(Frame("ignored-line", "bad-utf8", text, "", self._offset))
            frames.append(Frame("line", "message", _value_text(text), "", self._offset))
        self._partial = bytearray()
        self._skipped = 0
        self._offset += size + 1


def _value_text(line: str) -> str:
    return line.removeprefix(_RECORD_SEPARATOR.decode())
