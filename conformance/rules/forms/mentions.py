"""Search for markers in text that may also just mention them.

Rule 1: a marker in a fenced block of code, or in a code span that closes on its line, is a mention.
Rule 2: so is one between two quotation marks, brackets or stars right before and after it. A marker
        that ends inside a word, such as `to=functions.`, reaches to the end of that word, and a
        quotation that closes there may have begun earlier: after a name, a call goes on.
Rule 3: so is one that the request contains, outside of earlier answers of the model.
Rule 4: while this is undecided (an open span or quotation), the next characters decide; a span that
        has not closed after LONGEST_SPAN characters, at the end of its line, or at the end of the
        text, is not a span.
Rule 5: a marker that contains another one is not searched: the inner one is found there. So
        markers neither contain nor hide each other, and the leftmost is the first that ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final, Self

from msgspec import Struct

from conformance.rules.forms.texts import Hit, Needles, Search, first_characters
from conformance.rules.repetition import Column

LONGEST_SPAN: Final = 1024
_QUOTES: Final = {
    '"': '"',
    "'": "'",
    "(": ")",
    "*": "*",
    "\u2018": "\u2019",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\xab": "\xbb",
    "\u300c": "\u300d",
}
_CLOSING: Final = "\"'\u2019\u201d\xbb\u300d"
_PARTS: Final = re.compile(r"`+|\n|[^`\n]+")
_BEGUN_WORD: Final = re.compile(r"\A[\w.\-]+")
_LEAD: Final = " \t>-*+.0123456789"  # allowed before a fence: quotes, items of lists


class MarkdownCode:
    """Where a text stands, as far as code goes: in a fence, in an open span, or in neither.

    `span` is the number of backticks that opened what has not closed on this line.
    """

    __slots__ = ("_at_start", "_run", "fence", "span")

    def __init__(self) -> None:
        self.fence = self.span = 0
        self._run = 0  # backticks at the end of the text so far
        self._at_start = True  # nothing but white space and the like on this line yet

    def read(self, text: str) -> None:
        """Takes the next piece, however it is cut."""
        if not self._run and "`" not in text:
            self._read_plain(text)
            return
        for part in _PARTS.findall(text):
            if part[0] == "`":
                self._run += len(part)
                continue
            self.end_run()
            if part == "\n":
                self.span, self._at_start = 0, True
            elif self._at_start:
                self._at_start = not part.strip(_LEAD)

    def _read_plain(self, text: str) -> None:
        line = text.rfind("\n")
        if line >= 0:
            self.span, self._at_start = 0, True
        if self._at_start:
            self._at_start = not text[line + 1 :].strip(_LEAD)

    def end_run(self) -> None:
        """The next character is not a backtick."""
        run, self._run = self._run, 0
        if not run:
            return
        if self.fence:
            if self._at_start and run >= self.fence:
                self.fence = 0
        elif run >= 3 and self._at_start:  # as CommonMark has it
            self.fence = run
        elif self.span:
            self.span = 0 if run == self.span else self.span
        else:
            self.span = run
        self._at_start = False


class MarkerNeedles(Struct, frozen=True, dict=True):
    """The markers to search, compiled once for many texts.

    `markers` are those that contain no other one (rule 5), `beginnings` are their beginnings.
    """

    needles: Needles
    markers: tuple[str, ...]
    beginnings: frozenset[str]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds a marker. Compiled when one may be there: that takes milliseconds of a start."""
        return re.compile("|".join(map(re.escape, self.markers)) or r"(?!)")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        wanted = tuple(dict.fromkeys(text for text in texts if text))
        some = [each for each in wanted if not any(n in each and n != each for n in wanted)]
        longest = max(map(len, some), default=1)
        beginnings = frozenset(each[:n] for each in some for n in range(1, len(each)))
        # A word is looked for as a whole: the first letter of one is in nearly every text.
        signs = tuple(dict.fromkeys(each if each[0].isalpha() else each[0] for each in some))
        needles = Needles(tuple(some), longest, _MarkerBeginnings(some), signs)
        return cls(needles, tuple(some), beginnings)


class _MarkerBeginnings:
    """Whether a marker may begin in a text: it has the first character, or for a word all of it.

    Nearly every text has the first letter of a word. Words are searched one by one, in a tenth of
    the time of one pattern for all: regex engines skip ahead quickly for characters only.
    """

    def __init__(self, markers: Sequence[str]) -> None:
        self._words = tuple(each for each in markers if each[0].isalpha())
        marks = tuple(each for each in markers if not each[0].isalpha())
        self._has_mark = first_characters(marks)
        some = "|".join(map(_begun_word, self._words))
        self._ends_in_word = re.compile(rf"(?:{some})\Z").search
        self._shortest = min(map(len, self._words), default=0)
        self._longest = max(map(len, self._words), default=0)

    def __call__(self, text: str) -> bool:
        if self._has_mark(text):
            return True
        if not self._words:
            return False
        size = len(text)
        for word in self._words if size >= self._shortest else ():
            if word in text:
                return True
        return self._ends_in_word(text, size - self._longest) is not None


def _begun_word(word: str) -> str:
    """A pattern for a word, as much as there is of it."""
    rest = ""
    for letter in reversed(word[1:]):
        rest = f"(?:{re.escape(letter)}{rest})?"
    return re.escape(word[0]) + rest


class MentionSearch(Search):
    """Looks for markers that a text holds, and not for those that it speaks of."""

    __slots__ = (
        "_code",
        "_code_at",
        "_markers",
        "_open",
        "_past",
        "is_spelled",
    )

    def __init__(self, markers: MarkerNeedles) -> None:
        super().__init__(markers.needles)
        self._markers = markers
        self._code = MarkdownCode()
        self._code_at = 0  # how far the code was read
        self._past = 0  # the end of the last marker that the text spoke of
        self._open: int | None = None  # where a marker begins of which more has to come (rule 4)
        self.is_spelled: Callable[[str], bool] = lambda _needle: False

    def end(self) -> Hit | None:
        """The text is over: what a marker that is still open comes to."""
        return None if self._open is None else self._search_from(self._join_late(), 0, is_over=True)

    def finds(self, more: str) -> bool:
        if self._open is not None:
            return True
        border = self._join_late() + more[: self._needles.longest]
        may_be_in = self._needles.may_be_in
        if may_be_in(border) and self._markers.pattern.search(border):
            return True
        return bool(may_be_in(more) and self._markers.pattern.search(more))

    def _keep_skipped(self, column: Column, last: int) -> None:
        start, whole = self._base, self._kept + column.joined
        super()._keep_skipped(column, last)
        self._read_code(whole, start, self._base)

    def _first_hit(self, whole: str, begin: int) -> Hit | None:
        return self._search_from(whole, begin, is_over=False)

    def _search_from(self, whole: str, begin: int, *, is_over: bool) -> Hit | None:
        start, self._open = max(begin, self._past - self._base), None
        while found := self._markers.pattern.search(whole, start):
            is_mention = self._is_mention(whole, found, is_over=is_over)
            if is_mention is None:
                self._open = self._base + found.start()
                return None
            if not is_mention:
                return self._hit_at(whole, found.start(), found.group())
            start = found.end()
            self._past = self._base + start
        return None

    def _ends_inside(self, whole: str, begin: int) -> bool:
        begin = max(begin, len(whole) - self._needles.longest + 1)
        return self._open is not None or any(
            whole[at:] in self._markers.beginnings for at in range(begin, len(whole))
        )

    def _is_mention(self, whole: str, found: re.Match[str], *, is_over: bool) -> bool | None:
        if self.is_spelled(found.group()):
            return True
        start, end = found.span()
        self._read_code(whole, self._base, self._base + start)
        self._code.end_run()
        if self._code.fence:
            return True
        rest = whole[end : end + LONGEST_SPAN]
        if self._code.span:
            closes = _closes_span(rest, self._code.span, is_over=is_over)
            if closes is not False:
                return closes
        closing, is_whole = _QUOTES.get(whole[start - 1 : start], ""), len(rest) >= LONGEST_SPAN
        if found.group()[-1] in "._":
            closing, rest = closing or _CLOSING, _BEGUN_WORD.sub("", rest)
        if not closing:
            return False
        return rest[0] in closing if rest else (False if is_over or is_whole else None)

    def _surplus_length(self, whole: str) -> int:
        surplus = super()._surplus_length(whole)
        return surplus if self._open is None else max(0, min(surplus, self._open - self._base - 1))

    def _trim_text(self, whole: str) -> None:
        start = self._base
        super()._trim_text(whole)
        self._read_code(whole, start, self._base)

    def _read_code(self, whole: str, start: int, until: int) -> None:
        """Reads a text that begins at `start`, up to a position, unless already done.

        Skipped text before it has to be read first, by `skip`.
        """
        if until > self._code_at >= start:
            self._code.read(whole[self._code_at - start : until - start])
            self._code_at = until


def _closes_span(rest: str, run: int, *, is_over: bool) -> bool | None:
    """Whether a span of so many backticks closes on this line; None where more has to come.

    False is for spans that do not.
    """
    line, ended, _ = rest.partition("\n")
    is_whole = bool(ended) or is_over or len(rest) >= LONGEST_SPAN
    for ticks in re.finditer("`+", line):
        if ticks.end() == len(line) and not is_whole:
            return None
        if len(ticks.group()) == run:
            return True
    return False if is_whole else None
