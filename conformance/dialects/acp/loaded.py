"""The turns of each session, and what of them the agent replays when the session is loaded.

Rule 1: of a turn that ended by itself its question, its messages, its thoughts and its calls count.
        White space does not count, nor does a text of few characters, nor a command of the agent's
        own (`/help`). What came before a compaction may be gone.
Rule 2: questions and messages are looked for in their order; a replay may hold more.
Rule 3: an agent may keep no thoughts. One that replays some replays all, in their turns.
Rule 4: a call is known by its id, or else by its title or what it was given. What is left out of
        it is no change, but its end and its result are part of it.
Rule 5: a text is doubled if it comes more often than it came, and the session began here or the
        text is long.
Rule 6: a load has one fault, the gravest, because a lost turn explains its lost parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct, field

from conformance.core.spelling import one_spelling
from conformance.dialects.acp.replayed_calls import SessionCall, call_fault
from conformance.dialects.json_edge import arguments_text, mapping, objects, string

_KINDS: Final = {
    "user_message_chunk": "question",
    "agent_message_chunk": "message",
    "agent_thought_chunk": "thought",
}
_TALK: Final = frozenset({"question", "message"})
_FORGETTING: Final = frozenset(
    {"compact", "compress", "summarize", "clear", "reset", "new", "undo"}
)
_LEAST: Final = 8  # characters, spelled
_LONG: Final = 40  # characters: a text that is no chance repetition
_MOST: Final = 4 * 1024 * 1024  # characters of all sessions; beyond, none is compared
_MOST_SEARCHED: Final = 1 << 31  # characters in which texts are counted; beyond, the same
_OF_PART: Final = 64  # characters that a session, turn, load or call counts as, besides its text


class SpokenText(NamedTuple):
    """One run of chunks of a kind: its text as it came, and in one spelling."""

    kind: str
    text: str
    spelled: str


class SpokenRuns(Struct):
    """Runs of chunks of one kind, and calls, in their order."""

    runs: list[tuple[str, list[str]]] = field(default_factory=list)
    calls: dict[str, SessionCall] = field(default_factory=dict)
    repeated: str = ""  # a call that was announced twice

    def say(self, kind: str, text: str) -> None:
        if not self.runs or self.runs[-1][0] != kind:
            self.runs.append((kind, []))
        self.runs[-1][1].append(text)

    def take_call(self, update: dict[str, Any], *, is_new: bool) -> None:
        """A call, or news of one."""
        name = string(update.get("toolCallId"))
        if is_new:
            self.runs.append(("call", [name]))
            self.repeated = self.repeated or (name if name in self.calls else "")
        self.calls.setdefault(name, SessionCall()).take(update)

    def texts(self) -> list[SpokenText]:
        texts = ((kind, "".join(pieces)) for kind, pieces in self.runs)
        return [SpokenText(kind, text, one_spelling(text)) for kind, text in texts]


class EndedTurn(NamedTuple):
    """A turn that a replay has to hold."""

    texts: Sequence[SpokenText]
    calls: dict[str, SessionCall]


class SessionTalk(Struct):
    """One session: its turns, the turn under way, and what is replayed."""

    turns: list[EndedTurn] = field(default_factory=list)
    said: list[SpokenText] = field(default_factory=list)  # also of turns that were stopped
    turn: SpokenRuns | None = None
    replay: SpokenRuns = field(default_factory=SpokenRuns)
    is_command: bool = False
    has_begun_here: bool = False


class LoadedSessions:
    """Remembers the turns of each session, and looks for them in what is replayed."""

    def __init__(self) -> None:
        self._sessions: dict[str, SessionTalk] = {}
        self._size = 0

    def open(self, session: str) -> None:
        """A session begins."""
        self._talk(session).has_begun_here = True

    def begin_turn(self, session: str, prompt: Any) -> None:
        talk = self._talk(session)
        texts = [string(each.get("text")) for each in objects(prompt)]
        first = next(iter(texts), "").lstrip()
        talk.is_command = first.startswith("/")
        if talk.is_command and first[1:].partition(" ")[0] in _FORGETTING:
            talk.turns.clear()
        self._size += _OF_PART + sum(map(len, texts))
        talk.turn = SpokenRuns()
        if self._size <= _MOST:
            talk.turn.runs += (("question", [text]) for text in texts)

    def add_update(self, session: str, update: dict[str, Any], *, is_replayed: bool) -> None:
        kind = string(update.get("sessionUpdate"))
        talk = self._sessions.get(session)
        spoken = None if talk is None else talk.replay if is_replayed else talk.turn
        if talk is None or spoken is None or self._size > _MOST:
            return
        if kind.startswith("compaction_"):
            talk.turns.clear()
        elif kind in _KINDS and (is_replayed or kind != "user_message_chunk"):
            text = string(mapping(update.get("content")).get("text"))
            self._size += 1 + len(text)
            spoken.say(_KINDS[kind], text)
        elif kind in ("tool_call", "tool_call_update"):
            self._size += _OF_PART + len(arguments_text(update.get("rawInput")))
            spoken.take_call(update, is_new=kind == "tool_call")

    def end_turn(self, session: str, reason: str) -> None:
        talk = self._talk(session)
        turn, talk.turn = talk.turn, None
        if turn is None:
            return
        texts = turn.texts()
        talk.said += texts
        if reason == "end_turn" and not talk.is_command:
            talk.turns.append(EndedTurn(texts, turn.calls))

    def begin_load(self, session: str) -> None:
        self._size += _OF_PART
        self._talk(session).replay = SpokenRuns()

    def end_load(self, session: str) -> dict[str, Any] | None:
        """The session with the fault of its replay, if any; None without a comparison."""
        talk = self._talk(session)
        replay, talk.replay = talk.replay, SpokenRuns()
        if not talk.turns or self._size > _MOST:
            return None
        fault = _fault(talk, replay)
        return None if fault is None else {"sessionId": session, "lost": "", **fault}

    def _talk(self, session: str) -> SessionTalk:
        """What is known of a session, as long as there is room for another one."""
        if (known := self._sessions.get(session)) is not None:
            return known
        self._size += _OF_PART
        made = SessionTalk()
        if self._size <= _MOST:
            self._sessions[session] = made
        return made


def _fault(talk: SessionTalk, replay: SpokenRuns) -> dict[str, str] | None:
    """Rule 6; None where there is too much to compare."""
    given = replay.texts()
    spans: list[tuple[int, int]] = []  # the runs between which each turn is replayed
    at = (0, 0)
    for turn in talk.turns:
        begun = at[0]
        for sought in _sought(turn, _TALK):
            found = _find(given, sought, at)
            if found is None:
                return {"lost": sought.text}
            at = found
        spans.append((begun, at[0]))
    if _is_too_much(talk, given):
        return None
    if doubled := next(_doubled(talk, given), replay.repeated):
        return {"doubled": doubled}
    if unthought := _lost_thought(talk, given, spans):
        return {"thought": unthought}
    calls = {name: call for turn in talk.turns for name, call in turn.calls.items()}
    fault = call_fault(calls, replay.calls)
    return {"call": fault} if fault else {}


def _lost_thought(
    talk: SessionTalk, given: Sequence[SpokenText], spans: list[tuple[int, int]]
) -> str:
    """Rule 3."""
    if all(each.kind != "thought" for each in given):
        return ""
    for turn, (first, last) in zip(talk.turns, spans, strict=True):
        own = "".join(e.spelled for e in given[first : last + 1] if e.kind == "thought")
        for sought in _sought(turn, ("thought",)):
            if sought.spelled not in own:
                return sought.text
    return ""


def _sought(turn: EndedTurn, kinds: Collection[str]) -> Iterator[SpokenText]:
    return (each for each in turn.texts if each.kind in kinds and len(each.spelled) >= _LEAST)


def _find(
    given: Sequence[SpokenText], sought: SpokenText, at: tuple[int, int]
) -> tuple[int, int] | None:
    """The run in which the text comes next, and the place there at which it ends."""
    for place in range(at[0], len(given)):
        begun = at[1] if place == at[0] else 0
        if given[place].kind != sought.kind:
            continue
        if (found := given[place].spelled.find(sought.spelled, begun)) >= 0:
            return place, found + len(sought.spelled)
    return None


def _is_too_much(talk: SessionTalk, given: Sequence[SpokenText]) -> bool:
    size = sum(len(each.spelled) for each in (*talk.said, *given))
    return size * sum(len(turn.texts) for turn in talk.turns) > _MOST_SEARCHED


def _doubled(talk: SessionTalk, given: Sequence[SpokenText]) -> Iterator[str]:
    """Rule 5."""
    for kind in _KINDS.values():
        came = "\0".join(each.spelled for each in talk.said if each.kind == kind)
        back = "\0".join(each.spelled for each in given if each.kind == kind)
        for sought in (each for turn in talk.turns for each in _sought(turn, (kind,))):
            is_known = talk.has_begun_here or len(sought.spelled) >= _LONG
            if is_known and back.count(sought.spelled) > came.count(sought.spelled):
                yield sought.text
