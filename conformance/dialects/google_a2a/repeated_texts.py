"""Which texts of an agent repeat pieces, of thoughts or of text, that it has sent before.

Rule 1: a text that begins with all pieces since the last repetition repeats them; only the rest of
        it is new.
Rule 2: so does a text that equals the last pieces: two or more, or one, if it comes elsewhere (a
        message of the status, then an artifact).
Rule 3: the text that was repeated last may come again. A call or its result ends the pieces.
"""

from __future__ import annotations


class RepeatedTexts:
    """The pieces of one kind since the last repetition."""

    __slots__ = ("_again", "_pieces", "_size")

    def __init__(self) -> None:
        self._again = ""
        self._pieces: list[str] = []
        self._size = 0

    def add(self, text: str) -> None:
        """A new piece."""
        if text:
            self._pieces.append(text)
            self._size += len(text)

    def end_step(self) -> None:
        """Forgets the pieces: later texts do not repeat them."""
        self._pieces, self._size = [], 0

    def repeated(self, text: str, *, is_elsewhere: bool) -> int:
        """How many characters of a text were sent before; such a text is remembered."""
        known = self._known(text, 1 if is_elsewhere else 2)
        if known:
            self._again = text
            self.end_step()
        return known

    def has(self, text: str) -> bool:
        """Whether a text equals all pieces, or the text that was repeated last."""
        is_all = len(text) == self._size and "".join(self._pieces) == text
        return bool(text) and (is_all or text == self._again)

    def _known(self, text: str, fewest: int) -> int:
        if not self._size:
            return len(text) if text == self._again else 0
        if len(text) >= self._size:
            return self._size if text.startswith("".join(self._pieces)) else 0
        rest, count = text, 0
        for piece in reversed(self._pieces):
            if not rest or not rest.endswith(piece):
                break
            rest, count = rest[: -len(piece)], count + 1
        return len(text) if not rest and count >= fewest else 0
