"""Grammars over event names: parsed to a regular expression, run as a lazy automaton.

Theory. A letter is the set of grammar names that are true of one event, so an event may be read
under several names. A state is an expression; reading a letter replaces it by its Brzozowski
derivative: what may follow after that letter. Expressions are normalised and hash-consed, so a
grammar meets a handful of states however long the stream is, and a step is one dictionary look-up.

Rule 1: an expression that is EMPTY accepts nothing: the letter before it was the violation.
Rule 2: `expected` are the names whose derivative is not EMPTY: the message for free.
Rule 3: states are capped; a grammar that meets more is our ERROR, never a stream's fault.
"""

from __future__ import annotations

import re
from functools import cached_property
from threading import Lock
from typing import Final

from msgspec import Struct

MOST_STATES: Final = 4096
MOST_REPEATS: Final = 1000


class Expression(Struct, frozen=True):
    """An expression. `kind`: empty, word (the empty word), name, seq, alt, many, count."""

    kind: str
    name: str = ""
    parts: tuple[Expression, ...] = ()
    low: int = 0
    high: int = 0


EMPTY: Final = Expression("empty")
WORD: Final = Expression("word")


class GrammarError(ValueError):
    """The text is not a grammar; `column` is 0-based within it."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


class TooManyStatesError(RuntimeError):
    """A grammar met more states than the cap."""


def seq(*parts: Expression) -> Expression:
    flat: list[Expression] = []
    for part in parts:
        if part is EMPTY or part.kind == "empty":
            return EMPTY
        if part.kind == "seq":
            flat.extend(part.parts)
        elif part.kind != "word":
            flat.append(part)
    if len(flat) < 2:
        return flat[0] if flat else WORD
    return Expression("seq", parts=tuple(flat))


def alt(*parts: Expression) -> Expression:
    flat: list[Expression] = []
    for part in parts:
        for each in part.parts if part.kind == "alt" else (part,):
            if each.kind != "empty" and each not in flat:
                flat.append(each)
    if len(flat) < 2:
        return flat[0] if flat else EMPTY
    return Expression("alt", parts=tuple(sorted(flat, key=repr)))


def many(part: Expression) -> Expression:
    if part.kind in ("empty", "word"):
        return WORD
    return part if part.kind == "many" else Expression("many", parts=(part,))


def count(part: Expression, low: int, high: int) -> Expression:
    if high == 0:
        return WORD
    if (low, high) == (1, 1):
        return part
    return Expression("count", parts=(part,), low=low, high=high)


def nullable(node: Expression) -> bool:
    if node.kind == "seq":
        return all(nullable(part) for part in node.parts)
    if node.kind == "alt":
        return any(nullable(part) for part in node.parts)
    if node.kind == "count":
        return node.low == 0 or nullable(node.parts[0])
    return node.kind in ("word", "many")


def derive(node: Expression, letter: frozenset[str]) -> Expression:
    """What may follow once an event that answers to the names in `letter` has been read."""
    if node.kind == "name":
        return WORD if node.name in letter else EMPTY
    if node.kind == "alt":
        return alt(*(derive(part, letter) for part in node.parts))
    if node.kind == "many":
        return seq(derive(node.parts[0], letter), node)
    if node.kind == "count":
        rest = count(node.parts[0], max(0, node.low - 1), node.high - 1)
        return seq(derive(node.parts[0], letter), rest)
    if node.kind == "seq":
        return _derive_sequence(node.parts, letter)
    return EMPTY


def _derive_sequence(parts: tuple[Expression, ...], letter: frozenset[str]) -> Expression:
    options: list[Expression] = []
    for position, part in enumerate(parts):
        options.append(seq(derive(part, letter), *parts[position + 1 :]))
        if not nullable(part):
            break
    return alt(*options)


def names(node: Expression) -> frozenset[str]:
    if node.kind == "name":
        return frozenset({node.name})
    return frozenset().union(*(names(part) for part in node.parts))


class Automaton:
    """The states of one grammar, made as they are met; shared by all slices and exchanges.

    Threads may share one automaton: states get their numbers under a lock, and a step that two
    threads work out at once comes out the same.
    """

    def __init__(self, root: Expression) -> None:
        self.start = 0
        self._nodes = [root]
        self._numbers = {root: 0}
        self._steps: dict[tuple[int, frozenset[str]], int] = {}
        self._root = root
        self._lock = Lock()

    @cached_property
    def alphabet(self) -> frozenset[str]:
        return names(self._root)

    def step(self, state: int, letter: frozenset[str]) -> int:
        """The next state, or -1 where the letter may not come here."""
        following = self._steps.get((state, letter))
        if following is None:
            following = self._number_of(derive(self._nodes[state], letter))
            self._steps[(state, letter)] = following
        return following

    def accepts(self, state: int) -> bool:
        return nullable(self._nodes[state])

    def expected(self, state: int) -> tuple[str, ...]:
        """Names that may come next, in alphabetical order."""
        node = self._nodes[state]
        follow = (name for name in sorted(self.alphabet))
        return tuple(n for n in follow if derive(node, frozenset({n})).kind != "empty")

    def _number_of(self, node: Expression) -> int:
        if node.kind == "empty":
            return -1
        with self._lock:
            number = self._numbers.get(node)
            if number is None:
                if len(self._nodes) >= MOST_STATES:
                    raise TooManyStatesError(f"grammar met more than {MOST_STATES} states")
                number = self._numbers[node] = len(self._nodes)
                self._nodes.append(node)
            return number


_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>\[?[A-Za-z_][\w.\-]*\]?)|(?P<count>\{\s*(\d+)\s*(?:(,)\s*(\d+)\s*)?\})"
    r"|(?P<mark>[|*+?()]))"
)


def parse(text: str) -> Expression:
    """`a (b c* | d)+ e{1,3}` as an expression; GrammarError where it is none."""
    return _GrammarParser(text).whole()


class _GrammarParser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.token: re.Match[str] | None = None
        self._next_token()

    def whole(self) -> Expression:
        node = self._parse_alternatives(depth=0)
        if self.token is not None:
            raise GrammarError(f"unexpected {self.token.group().strip()!r}", self._new_state())
        return node

    def _next_token(self) -> None:
        if not self.text[self.at :].strip():
            self.token = None
            self.at = len(self.text)
            return
        token = _TOKEN.match(self.text, self.at)
        if token is None:
            rest = self.text[self.at :].lstrip()
            raise GrammarError(f"unexpected {rest[0]!r}", len(self.text) - len(rest))
        self.token = token
        self.at = token.end()

    def _new_state(self) -> int:
        assert self.token is not None
        return self.token.end() - len(self.token.group().lstrip())

    def _next_mark(self) -> str | None:
        return self.token.group("mark") if self.token else None

    def _parse_alternatives(self, depth: int) -> Expression:
        if depth > 50:
            raise GrammarError("groups nest deeper than 50", self.at)
        options = [self._parse_sequence(depth)]
        while self._next_mark() == "|":
            self._next_token()
            options.append(self._parse_sequence(depth))
        return alt(*options)

    def _parse_sequence(self, depth: int) -> Expression:
        parts: list[Expression] = []
        while self.token is not None and self._next_mark() not in ("|", ")"):
            parts.append(self._parse_repeated(depth))
        if not parts:
            at = self._new_state() if self.token else len(self.text)
            raise GrammarError("expected an event name or a group", at)
        return seq(*parts)

    def _parse_repeated(self, depth: int) -> Expression:
        node = self._parse_single(depth)
        while self.token is not None:
            if self.token.group("count"):
                node = self._parse_counted(node)
            elif self._next_mark() == "*":
                node = many(node)
            elif self._next_mark() == "+":
                node = seq(node, many(node))
            elif self._next_mark() == "?":
                node = alt(node, WORD)
            else:
                break
            self._next_token()
        return node

    def _parse_counted(self, node: Expression) -> Expression:
        assert self.token is not None
        low = int(self.token.group(3))
        high = int(self.token.group(5)) if self.token.group(4) else low
        if high < low or high > MOST_REPEATS:
            message = f"a count goes from low to high, at most {MOST_REPEATS}"
            raise GrammarError(message, self._new_state())
        return count(node, low, high)

    def _parse_single(self, depth: int) -> Expression:
        assert self.token is not None
        if name := self.token.group("name"):
            self._next_token()
            return Expression("name", name=name)
        if self._next_mark() == "(":
            opened = self._new_state()
            self._next_token()
            node = self._parse_alternatives(depth + 1)
            if self._next_mark() != ")":
                raise GrammarError("a group is not closed", opened)
            self._next_token()
            return node
        raise GrammarError(f"unexpected {self.token.group().strip()!r}", self._new_state())
