"""Server-sent events: bytes in, frames out, nothing lost on the way.

The algorithm is the standard's, to the letter
(https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation):

    "Streams must be decoded using the UTF-8 decode algorithm. The UTF-8 decode algorithm strips
    one leading UTF-8 Byte Order Mark (BOM), if any. [...] Lines must be processed, in the order
    they are received, as follows:

    If the line is empty (a blank line): Dispatch the event.
    If the line starts with a U+003A COLON character (:): Ignore the line.
    If the line contains a U+003A COLON character (:): Collect the characters on the line before
    the first U+003A COLON character (:), and let field be that string. Collect the characters on
    the line after [it], and let value be that string. If value starts with a U+0020 SPACE
    character, remove it from value.
    Otherwise, the string is not empty but does not contain a U+003A COLON character (:):
    [...] using the whole line as the field name, and the empty string as the field value.

    Once the end of the file is reached, any pending data must be discarded. (If the file ends in
    the middle of an event, before the final empty line, the incomplete event is not dispatched.)"

Lines end at CR LF, LF or CR, and nowhere else: U+2028 and U+0085 are text. No byte of a longer
UTF-8 sequence is a CR, an LF or ASCII, so lines may be cut as bytes and decoded one by one.

A checker must also see what the standard throws away. Hence these rules:
Rule 1: a *block* is the lines between two blank lines, comments left out; it begins at its first
such line. Every block yields exactly one frame: `event` if it is dispatched, else `ignored` with
the reason `no-data` (a blank line came, a `data` field did not), `unfinished` (the stream ended
first) or `too-long`.
Rule 2: a line may yield frames of its own, at the moment it ends: `bad-utf8` first, then one of
`comment`, `unknown-field`, `bad-id` (it holds NUL), `bad-retry` (it is not ASCII digits only, or
more than 18 of them after leading zeros: 30 million years). So what is observed inside a block
comes before the block's own frame.
Rule 3: frames depend on the bytes alone, never on how they were cut into chunks. A CR ends its
line at once; an LF that follows, in whatever chunk, is part of the same line end.
Rule 4: where a line or a block passes `max_event_bytes`, counted from the block's first byte (of
a line outside a block: the line's), comments inside the block and earlier line ends included, one
`too-long` frame without data stands for it, its id is not committed, and everything up to and
including the next blank line is skipped unseen. This bound and that of `retry` are the only
departures from the standard.
Rule 5: time is linear in the bytes; memory is a small multiple of the largest block or chunk, at
most of `max_event_bytes`. A buffer is appended to, never searched or copied again and again.

Speed comes from three facts: nearly all streams use LF everywhere or CR LF everywhere, so splitting
finds the lines; nearly every block is one `data: ...` line, or an `event: ...` line and a
`data: ...` line, and the blank line after it shows which; the bytes between two line ends need not
be searched again. Anything unusual goes line by line, slower, with the same outcome.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.core.errors import HarnessError
from conformance.core.events import Frame
from conformance.core.sse_block import DATA, EventBlock

_BOM: Final = b"\xef\xbb\xbf"
_CR: Final = 0x0D
_LF: Final = 0x0A
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
# A larger chunk is taken in strides, which stay in the cache and keep the list of lines short.
_STRIDE: Final = 1 << 15
# Put after a chunk's last line: a look at three lines from there needs no test of bounds.
_NOT_BLANK: Final = (b"-", b"-", b"-")


class Parser:
    """Parses one stream, incrementally and without I/O.

    `retry` is the reconnection time in milliseconds (None: never set), `last_event_id` the last
    event ID as of the latest blank line. `max_event_bytes` bounds one block or line (rule 4).
    Observations carry an empty `id`; `data` of `no-data` and `unfinished` is the block's lines
    joined by LF. Input is never refused: what is wrong with it becomes a frame.
    """

    def __init__(self, *, max_event_bytes: int = 64 * 1024 * 1024) -> None:
        self._max = max_event_bytes
        self._closed = False
        self._started = False  # whether the BOM, if any, has been read
        self._after_cr = False  # an LF that comes first belongs to the line end before
        self._skipping = False  # inside a block that was too long
        self._plain = False  # none of the four above has to be checked
        self._partial: bytes | bytearray = b""  # the line that has not ended yet
        self._held = b""  # a line before it: an event name that came before, with nothing after
        self._width = 1  # bytes of the end of that line
        self._line_offset = 0  # where these begin
        self._block = EventBlock()

    @property
    def retry(self) -> int | None:
        return self._block.retry

    @property
    def last_event_id(self) -> str:
        return self._block.last_event_id

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that these bytes complete. Raises HarnessError after `close`."""
        frames: list[Frame] = []
        size = len(data)
        if self._plain and size <= _STRIDE:
            open_size = len(self._held) + 2 + len(self._partial) + size  # at most: as in `_fits`
            if self._block.lines:
                open_size += self._line_offset - self._block.offset
            width = 2 if _CR in data else 1
            lines = data.split(b"\n") if width == 1 else _crlf_lines(data)
            if lines and open_size <= self._max and (width == self._width or not self._held):
                self._usual(lines, width, frames)
                return frames
        if self._closed:
            raise HarnessError("an SSE parser was fed after close")
        for start in range(0, size, _STRIDE):
            self._careful(data[start : start + _STRIDE], frames)
        return frames

    def close(self) -> list[Frame]:
        """End the stream: at most one frame. A second call yields none."""
        frames: list[Frame] = []
        self._closed, self._plain = True, False
        self._release(frames)
        self._bound(frames)
        block = self._block
        if not self._skipping and (block.lines or self._partial):
            offset = block.offset if block.lines else self._line_offset
            lines = block.lines + self._partial if self._partial else block.lines[:-1]
            # The last line may end inside a character; that is the cut's doing, not `bad-utf8`.
            text = lines.decode("utf-8", "replace")
            frames.append(Frame("ignored", "unfinished", text, "", offset))
        block.give_up()
        self._partial = b""
        return frames

    @property
    def is_between(self) -> bool:
        """Whether the next byte begins a block, and nothing before it is held back."""
        return self._plain and not (self._block.lines or self._partial or self._held)

    @property
    def position(self) -> int:
        """The byte at which the line begins that has not ended yet."""
        return self._line_offset

    def skip(self, size: int) -> None:
        """Count the bytes of whole events without an id that a caller has read itself."""
        self._line_offset += size

    def _careful(self, data: bytes, frames: list[Frame]) -> None:
        """Take any bytes, at least one, in any state."""
        self._release(frames)
        if self._after_cr:
            self._after_cr = False
            if data[0] == _LF:
                data = data[1:]
                self._line_offset += 1
        if not self._started:
            data = self._start(data)
            if not self._started:
                return
        # The LF that belongs to a CR at the end may be in the next chunk.
        ends_in_cr = data.endswith(b"\r")
        width = 2 if _CR in data else 1
        whole = data + b"\n" if ends_in_cr else data
        lines = data.split(b"\n") if width == 1 else _crlf_lines(whole)
        size = len(self._partial) + len(data) + ends_in_cr
        if lines and not self._skipping and self._fits(self._line_offset, size):
            self._usual(lines, width, frames)
            if ends_in_cr:
                self._release(frames)
                self._after_cr = True
                self._line_offset -= 1
        else:
            self._lines(data, frames)
        self._plain = not (self._skipping or self._after_cr)

    def _start(self, data: bytes) -> bytes:
        """Strip the BOM; hold the bytes back while they may be the beginning of one."""
        data = bytes(self._partial) + data
        self._started = len(data) >= len(_BOM) or not _BOM.startswith(data)
        self._partial = b"" if self._started else data
        if not self._started:
            return b""
        if data.startswith(_BOM):
            self._line_offset = len(_BOM)
        return data[self._line_offset :]

    def _fits(self, offset: int, size: int) -> bool:
        """Whether a line of `size` bytes at `offset`, together with its block, keeps rule 4."""
        block = self._block
        return offset + size - (block.offset if block.lines else offset) <= self._max

    def _usual(self, lines: list[bytes], width: int, frames: list[Frame]) -> None:
        """Take lines with ends of `width` bytes and the beginning of one; none is too long."""
        rest = lines.pop()
        if not lines:
            self._append(rest)
            return
        if self._partial:
            lines[0] = b"".join((self._partial, lines[0]))
        if self._held:
            lines.insert(0, self._held)
            self._held = b""
        self._partial = rest
        end, at, offset, block = len(lines), 0, self._line_offset, self._block
        lines += _NOT_BLANK
        while at < end:
            if not block.lines:
                at, offset = self._blocks(lines, at, offset, width, frames)
                if at == end:
                    break
                if at == end - 1 and lines[at] in block.names:
                    self._held, self._width = lines[at], width  # it may be usual once it is there
                    break
            line = lines[at]
            if not lines[at + 1] and block.lines and block.completes(line, frames):
                offset += len(line) + 2 * width
                at += 2
            else:
                block.line(line, offset, frames)
                offset += len(line) + width
                at += 1
        self._line_offset = offset

    def _release(self, frames: list[Frame]) -> None:
        """Take the line that was held back as any other."""
        if self._held:
            held, self._held = self._held, b""
            self._block.line(held, self._line_offset, frames)
            self._line_offset += len(held) + self._width

    def _blocks(
        self, lines: list[bytes], at: int, offset: int, width: int, frames: list[Frame]
    ) -> tuple[int, int]:
        """Take blocks from lines[at], as long as they are usual; the index and offset after."""
        block = self._block
        names, last_event_id = block.names, block.last_event_id
        try:
            while True:
                first, second = lines[at], lines[at + 1]
                if not second:
                    value = first.removeprefix(DATA)
                    if value == first:
                        if first:
                            break
                        offset += width  # one blank line more
                        at += 1
                        continue
                    frames.append(Frame("event", "message", value.decode(), last_event_id, offset))
                    offset += len(first) + 2 * width
                    at += 2
                elif not lines[at + 2]:
                    name, value = names.get(first), second.removeprefix(DATA)
                    if name is None:
                        name = block.new_name(first)
                    if not name or value == second:
                        break
                    text = value.decode()
                    frames.append(Frame("event", name, text, last_event_id, offset, True))
                    offset += len(first) + len(second) + 3 * width
                    at += 3
                else:
                    break
        except UnicodeDecodeError:
            pass  # the slower road reports it
        return at, offset

    def _lines(self, data: bytes, frames: list[Frame]) -> None:
        """Take lines of any kind; the first may be one that is skipped."""
        data = b"".join((self._partial, data))
        base, start = self._line_offset, 0
        for match in _LINE_END.finditer(data):
            end = match.start()
            if self._skipping:
                self._skipping = end > start
            elif end > start and not self._fits(base + start, end - start):
                self._skip(base + start, frames)
            else:
                self._block.line(data[start:end], base + start, frames)
            start = match.end()
        self._after_cr = data.endswith(b"\r")
        self._partial = data[start:]
        self._line_offset = base + start
        self._bound(frames)

    def _append(self, data: bytes) -> None:
        """Lengthen the line that has not ended; a bytearray grows without being copied."""
        if isinstance(self._partial, bytes):
            self._partial = bytearray(self._partial)
        self._partial += data

    def _bound(self, frames: list[Frame]) -> None:
        """Give up a line that is too long before it has ended."""
        size = len(self._partial)
        if size and not self._skipping and not self._fits(self._line_offset, size):
            self._skip(self._line_offset, frames)
        if size and self._skipping:
            # One byte is kept: enough to know that the line is not blank.
            self._partial = bytes(self._partial[-1:])
            self._line_offset += size - 1

    def _skip(self, offset: int, frames: list[Frame]) -> None:
        begin = self._block.offset if self._block.lines else offset
        frames.append(Frame("ignored", "too-long", "", "", begin))
        self._block.give_up()
        self._skipping = True


def _crlf_lines(data: bytes) -> list[bytes]:
    """The lines and the beginning of one, where all of them end in CR LF; else nothing."""
    # Splitting at one byte and putting together again is quicker than looking for two.
    lines = data.replace(b"\r", b"").split(b"\n")
    return lines if b"\r\n".join(lines) == data else []
