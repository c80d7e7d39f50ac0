"""Separates an application's calls to its model: those of the turn, and those for itself.

Rule 1: the first scenario shows the difference: the call whose answer the user gets belongs to the
turn, and the shape of its request (tools, instructions, words around the user's, requested JSON) is
that of all calls of the turn. Each step of the scenario has a call of the turn.
Rule 2: if the turn passes on the user's words unchanged, a call that does not end with them is not
part of it, unless it continues a call that broke off or was cut at a limit, or has the shape of the
turn and adds words (a reminder, or a question that was never answered) to those of the user before
any answer.
Rule 3: a later call belongs to the turn unless its shape is closer to that of another call, or
differs from the turn's in several ways at once.
Rule 4: a call that refers to stored history, and brings only results, belongs to the turn.
Rule 5: words (title, summary) give a name to a call outside the turn; they do not make it one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from conformance.dialects import HISTORIES, INSTRUCTIONS, PROMPTS, get
from conformance.dialects.history_calls import goes_on_from_kept
from conformance.dialects.turns import HistoryForm, message_entry
from conformance.dialects.wishes import offered_functions

Place = Literal["last", "among", "joined", "held", "spoken of", "nowhere"]
"""Where a request has the user's words: as its last entry of the user, before another one of the
same turn, as the last lines of that entry, in an earlier turn, within other words."""

TURN: Final = "turn"
RETRY: Final = "retry"
_ROUTER: Final = "router"
_OTHER: Final = "side call"
_NAMES: Final = (
    ("title", re.compile(r"\b(titles?|headline|topic|name th(?:e|is) \w+)\b", re.IGNORECASE)),
    ("summary", re.compile(r"\b(summar\w+|compact\w*|condense\w*)\b", re.IGNORECASE)),
    ("suggestion", re.compile(r"\b(suggest\w*|follow-?ups?)\b", re.IGNORECASE)),
)
_BEGINNING: Final = 40  # characters of a prompt that do not change with date and place
_SEARCHED: Final = 20_000  # characters of a prompt
_FAR: Final = 4
_TOOLS, _SYSTEM, _OTHERS, _STRUCTURED, _STREAMS = 2, 2, 2, 3, 1
_SYSTEM_ROLES: Final = frozenset({"system", "developer"})


class CallShape(Struct, frozen=True):
    """The form of an application's request, without the user's words.

    `others` are the beginnings of what else the user is made to say in the same turn, `around` all
    that stands around the user's words; `history` is the same for a request that is made again.
    `goes_on`: the server keeps what came before, and the user says nothing.
    """

    place: Place
    tools: frozenset[str]
    system: str
    others: frozenset[str]
    is_structured: bool
    streams: bool
    around: str = ""
    history: str = ""
    goes_on: bool = False

    @property
    def name(self) -> str:
        """The name of a call that is not part of the turn."""
        found = (name for name, words in _NAMES if words.search(self.around))
        return next(found, _ROUTER if self.is_structured else _OTHER)

    def distance(self, other: CallShape) -> int:
        """In how many ways two calls differ, the telling ones counted more."""
        return sum(
            (
                _TOOLS * _differ(self.tools, other.tools),
                _SYSTEM * (self.system != other.system),
                _OTHERS * _differ(self.others, other.others),
                _STRUCTURED * (self.is_structured != other.is_structured),
                _STREAMS * (self.streams != other.streams),
            )
        )

    def works_as(self, other: CallShape) -> bool:
        """Whether two calls offer the same kind of tools, under the same instructions."""
        is_alike = self.system == other.system and self.is_structured == other.is_structured
        return is_alike and bool(self.tools & other.tools)


class ScenarioCall(Struct, frozen=True):
    """A call of the first scenario; `came_back`: the user was shown its answer in that step."""

    shape: CallShape
    came_back: bool
    step: str = ""


class TurnSigns(Struct, frozen=True):
    """How calls of the turn look, and calls that are none of it; empty where nothing is known.

    `question` is what the user says in the turn that is under way.
    """

    question: str = ""
    turns: tuple[CallShape, ...] = ()
    others: tuple[CallShape, ...] = ()

    def is_of_turn(self, shape: CallShape, *, goes_on: bool = False) -> bool:
        """Whether a call is of the turn; `goes_on`: the call before it is not all there."""
        if shape.goes_on:
            return True
        if not self.turns:
            return not self.others or all(shape.distance(each) for each in self.others)
        quotes = any(each.place == "last" for each in self.turns)
        if quotes and shape.place != "last" and not self._carries_on(shape, goes_on=goes_on):
            return False
        nearest = min(shape.distance(each) for each in self.turns)
        if any(shape.distance(each) < nearest for each in self.others):
            return False
        return nearest < _FAR

    def _carries_on(self, shape: CallShape, *, goes_on: bool) -> bool:
        """Whether a call that does not end with the user's words may be of the turn (rule 2)."""
        if shape.place == "held":
            return goes_on
        return shape.place in ("among", "joined") and any(
            shape.works_as(each) or (each.place == "among" and not shape.distance(each))
            for each in self.turns
        )


def learnt_signs(calls: Sequence[ScenarioCall]) -> TurnSigns:
    """Return the signs that the calls of the first scenario show (rule 1)."""
    shapes = list(dict.fromkeys(each.shape for each in calls))
    came_back: dict[str, list[CallShape]] = {}
    for call in calls:
        if call.came_back:
            came_back.setdefault(call.step, []).append(call.shape)
    turns = [shape for each in came_back.values() for shape in _likeliest(each)] or _likeliest(
        [each for each in shapes if each.place == "last" and not each.is_structured]
        or [each for each in shapes if not each.is_structured]
    )
    others = [each for each in shapes if all(each.distance(turn) for turn in turns)]
    return TurnSigns("", tuple(turns), tuple(others))


def _likeliest(shapes: Sequence[CallShape]) -> list[CallShape]:
    """Those of several shapes that are of the turn: what is called a title comes back by a leak."""
    kept = list(dict.fromkeys(shapes))
    unlike = [each for each in kept if any(each.distance(other) for other in kept)]
    if not unlike:
        return kept
    kept = [each for each in kept if each.tools] or kept
    return [each for each in kept if each.name in (_OTHER, _ROUTER)] or kept


def call_shape(dialect: str, body: Mapping[str, Any], question: str) -> CallShape:
    """Return the form of a request, without the user's words."""
    about = get(dialect)
    turns = _user_turns(body, about.turns)
    others = [text for text in _last_block(turns) if text != question.strip()]
    system = "\n".join(_instructions(body))
    around = "\n".join((system, *others)).replace(question, "")
    tools = about.request.tools(body) if about.request else None
    return CallShape(
        place=_place_of(turns, system, question),
        tools=frozenset(each.name for each in offered_functions(tools)),
        system=system.strip()[:_BEGINNING],
        others=frozenset(text[:_BEGINNING] for text in others),
        is_structured=bool(about.script and about.script.wishes.read(body).is_structured),
        streams=bool(about.request and about.request.streams(body)),
        around=around[:_SEARCHED],
        history=_history_of(body),
        goes_on=goes_on_from_kept(dialect, body) and not any(each.texts for each in turns),
    )


def _place_of(turns: Sequence[_UserTurn], system: str, question: str) -> Place:
    stripped = question.strip()
    if turns and stripped in turns[-1].texts:
        return "last"
    if stripped in _last_block(turns):
        return "among"
    if stripped and turns and any(text.endswith(f"\n{stripped}") for text in turns[-1].texts):
        return "joined"
    if any(stripped in turn.texts for turn in turns):
        return "held"
    texts = (text for turn in turns for text in turn.texts)
    return "spoken of" if any(stripped in text for text in (*texts, system)) else "nowhere"


class _UserTurn(Struct, frozen=True):
    """The texts of one entry of the user; `follows`: no answer is between it and the last one.

    A call with its result is none: it belongs to the turn that led to it.
    """

    texts: list[str]
    follows: bool


def _user_turns(body: Any, form: HistoryForm | None) -> list[_UserTurn]:
    """Each entry of the user that says anything."""
    found: list[_UserTurn] = []
    read = form.read if form else message_entry
    for key in (*PROMPTS, *HISTORIES):
        history = body.get(key) if isinstance(body, Mapping) else None
        if isinstance(history, str):
            found.append(_UserTurn([history.strip()], follows=False))
        is_first, is_answered = True, False
        for entry in history if isinstance(history, list) else ():
            fields = entry if isinstance(entry, Mapping) else {}
            aroundy = read(fields)
            texts = list(_content_texts(fields.get("content", fields.get("parts"))))
            if fields.get("role") == "user" and texts:
                goes_on = aroundy.by == "tool" or not is_answered
                found.append(_UserTurn(texts, follows=goes_on and not is_first))
                is_first = False
            if aroundy.by == "model":
                is_answered = is_answered or bool(aroundy.text or aroundy.calls)
            elif aroundy.by in ("user", "tool"):
                is_answered = False
    return found


def _last_block(turns: Sequence[_UserTurn]) -> list[str]:
    """Return the texts of the user's turns since the last answer."""
    arounds: list[str] = []
    for turn in reversed(turns):
        arounds += turn.texts
        if not turn.follows:
            break
    return arounds


def _instructions(body: Any) -> Iterator[str]:
    """The texts of a system prompt, wherever the body has it."""
    if not isinstance(body, Mapping):
        return
    for key in INSTRUCTIONS:
        given = body.get(key)
        yield from _content_texts(given.get("parts") if isinstance(given, Mapping) else given)
    for key in HISTORIES:
        for entry in history if isinstance(history := body.get(key), list) else ():
            if isinstance(entry, Mapping) and entry.get("role") in _SYSTEM_ROLES:
                yield from _content_texts(entry.get("content"))


def _history_of(body: Any) -> str:
    given = [body.get(key) for key in (*PROMPTS, *HISTORIES)] if isinstance(body, Mapping) else []
    try:
        return msgspec.json.encode(given, order="sorted").decode()
    except (msgspec.EncodeError, TypeError, ValueError, RecursionError):
        return ""


def _content_texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content.strip()
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str):
            yield text.strip()


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether nothing is in both, though there is something in either."""
    return bool(one or other) and not one & other
