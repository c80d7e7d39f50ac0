"""Edits of one exchange: what it asked, and what was answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.authoring.draft import Draft
from tests.authoring.edits import Pieces, Step
from tests.authoring.pieces import Fields, Piece, at, compact, cut, put

Turn = Callable[[Draft], Draft]


def asks(path: str, value: Any) -> Turn:
    """The request holds another value at a path; a function makes it from the old one."""

    def turn(draft: Draft) -> Draft:
        new = value(at(draft.asked, path)) if callable(value) else value
        return replace(draft, asked=put(draft.asked, path, new))

    return turn


def asks_not(path: str) -> Turn:
    """The request holds nothing at a path."""
    return lambda draft: replace(draft, asked=cut(draft.asked, path))


def sends(*headers: tuple[str, str]) -> Turn:
    """The request has these headers beside those that every one has."""
    return lambda draft: replace(draft, headers=headers)


def answers(*steps: Step) -> Turn:
    """Other pieces come back."""

    def turn(draft: Draft) -> Draft:
        pieces: Pieces = draft.pieces
        for step in steps:
            pieces = step(pieces)
        return replace(draft, pieces=tuple(pieces))

    return turn


def both(*turns: Turn) -> Turn:
    """One edit after the other."""

    def turn(draft: Draft) -> Draft:
        for each in turns:
            draft = each(draft)
        return draft

    return turn


def in_body(path: str, value: Any) -> Step:
    """Another value at a path of a whole JSON body; a function makes it from the old one."""

    def step(pieces: Pieces) -> list[Piece]:
        body: Fields = json.loads(b"".join(p for p in pieces if isinstance(p, bytes)))
        new = value(at(body, path)) if callable(value) else value
        return [compact(put(body, path, new)).encode()]

    return step


def not_in_body(path: str) -> Step:
    """Nothing at a path of a whole JSON body."""

    def step(pieces: Pieces) -> list[Piece]:
        body: Fields = json.loads(b"".join(p for p in pieces if isinstance(p, bytes)))
        return [compact(cut(body, path)).encode()]

    return step
