"""Token ids of one block to text, as soon as whole characters are there.

`DecodeStream` of the tokenizers library holds torn characters back, but

- it has no flush, so the ids that it holds are kept here too and decoded at the end;
- it holds a run that never becomes valid for ever, in quadratic time, so that is given up after
  `MOST_HELD` ids;
- with byte-fallback decoders it raises at the end of an invalid run, and at every id after it;
- with decoders that strip a leading space it must see a token first to keep the one of a block.
"""

from __future__ import annotations

from typing import Final

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

MOST_HELD: Final = 8
TORN: Final = 3
"""A character has at most four bytes: three ids may be its torn beginning."""


class BlockDecoder:
    """Decodes one block; markers are never fed to it.

    `before` is a token to start after, such as the marker that opened the block: its text is not
    given, but a space behind it is.
    `neutral` is any added token, for a new start in the middle of a block.
    """

    def __init__(
        self, tokenizer: Tokenizer, before: int | None = None, neutral: int | None = None
    ) -> None:
        self._tokenizer = tokenizer
        self._before = before
        self._neutral = before if before is not None else neutral
        self._stream = _new_decode_stream(before)
        self._held: list[int] = []

    @property
    def held(self) -> int:
        """How many ids have not become text yet."""
        return len(self._held)

    def push(self, token: int) -> str:
        """The text that this id completes; empty while a character is torn."""
        self._held.append(token)
        try:
            text = self._stream.step(self._tokenizer, token)
        except Exception as err:  # the library raises no narrower type
            if type(err) is not Exception:
                raise
            return self._give_up(keep=0)
        if text is not None:
            self._held.clear()
            return text
        return self._give_up(keep=self._torn()) if len(self._held) > MOST_HELD else ""

    def flush(self) -> str:
        """The text of what is held, torn characters as U+FFFD; nothing is held after it."""
        return self._give_up(keep=0) if self._held else ""

    def _give_up(self, *, keep: int) -> str:
        """Decode what is held but the last `keep` ids, and start anew with those."""
        split = len(self._held) - keep
        text, rest = self._text(self._held[:split]), self._held[split:]
        self._before = self._neutral
        self._stream = _new_decode_stream(self._before)
        self._held = []
        return text + "".join([self.push(token) for token in rest])

    def _torn(self) -> int:
        """How many of the last ids to keep, so that no torn character is cut in two."""
        whole = self._text(self._held)
        for keep in range(TORN, 0, -1):
            if self._text(self._held[:-keep]) + self._text(self._held[-keep:]) == whole:
                return keep
        return TORN

    def _text(self, ids: list[int]) -> str:
        """Decode as if after `before`."""
        if self._before is None:
            return self._tokenizer.decode(ids, skip_special_tokens=False)
        prefix = self._tokenizer.decode([self._before], skip_special_tokens=False)
        whole = self._tokenizer.decode([self._before, *ids], skip_special_tokens=False)
        return whole.removeprefix(prefix)


def _new_decode_stream(before: int | None) -> DecodeStream:
    ids = None if before is None else [before]
    return DecodeStream(ids, skip_special_tokens=False)
