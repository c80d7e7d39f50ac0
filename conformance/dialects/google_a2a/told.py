"""What an agent has told of one kind, thoughts or text: to know what it says again.

Rule 1: a text that is all that was told since it was last said again, says it again. If it goes on
        from there, only the rest is new.
Rule 2: so does one that is the last pieces of that: two or more, or the last one, if it is told
        elsewhere: what a message of the status said, an artifact says.
Rule 3: what was said again may be said once more. A call or its result ends what was told.
"""

from __future__ import annotations


class Told:
    """The texts of one kind since they were last said again."""

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
        """What was told stands for itself."""
        self._pieces, self._size = [], 0

    def repeated(self, text: str, *, is_elsewhere: bool) -> int:
        """How many characters of a text were told before; more than none are remembered."""
        known = self._known(text, 1 if is_elsewhere else 2)
        if known:
            self._again = text
            self.end_step()
        return known

    def has(self, text: str) -> bool:
        """Whether a text is all that was told, or what was said again last."""
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
