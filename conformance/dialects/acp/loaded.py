"""What was said in each session, and what of it the agent replays when the session is loaded.

Rule 1: of a turn that ended by itself its question, its messages, its thoughts and its calls count.
        White space does not count, nor does a text of few characters, nor a command of the agent's
        own (`/help`). What came before a compaction may be gone.
Rule 2: questions and messages are looked for in their order; a replay may hold more.
Rule 3: an agent may keep no thoughts. One that replays some replays all, in their turns.
Rule 4: a call is known by its id, or else by its title or what it was given. What is left out of
        it is no change, but its end and its result are part of it.
Rule 5: a text is doubled if it comes more often than it came, and the session began here or the
        text is long.
Rule 6: of a load one fault is said, the gravest, for a lost turn explains its lost parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

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
_OF_PART: Final = 64  # characters that a session, turn, load or call counts as, besides its text


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

    def texts(self) -> list[tuple[str, str]]:
        """The runs, each text as it is."""
        return [(kind, "".join(pieces)) for kind, pieces in self.runs]


class SessionTalk(Struct):
    """One session: what its turns said, the turn under way, and what is replayed."""

    turns: list[SpokenRuns] = field(default_factory=list)  # that a replay has to hold
    said: list[tuple[str, str]] = field(default_factory=list)  # all texts, spelled
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
        talk.said += ((kind, one_spelling(text)) for kind, text in turn.texts())
        if reason == "end_turn" and not talk.is_command:
            talk.turns.append(turn)

    def begin_load(self, session: str) -> None:
        self._size += _OF_PART
        self._talk(session).replay = SpokenRuns()

    def end_load(self, session: str) -> dict[str, Any] | None:
        """The session with the fault of its replay, if any; None without a comparison."""
        talk = self._talk(session)
        replay, talk.replay = talk.replay, SpokenRuns()
        if not talk.turns or self._size > _MOST:
            return None
        return {"sessionId": session, "lost": "", **_fault(talk, replay)}

    def _talk(self, session: str) -> SessionTalk:
        """What is known of a session, as long as there is room for another one."""
        if (known := self._sessions.get(session)) is not None:
            return known
        self._size += _OF_PART
        made = SessionTalk()
        if self._size <= _MOST:
            self._sessions[session] = made
        return made


def _fault(talk: SessionTalk, replay: SpokenRuns) -> dict[str, str]:
    """Rule 6."""
    given = [(kind, one_spelling(text)) for kind, text in replay.texts()]
    spans: list[tuple[int, int]] = []  # the runs between which each turn is replayed
    at = (0, 0)
    for turn in talk.turns:
        begun = at[0]
        for kind, text in _sought(turn, _TALK):
            found = _find(given, kind, one_spelling(text), at)
            if found is None:
                return {"lost": text}
            at = found
        spans.append((begun, at[0]))
    if doubled := next(_doubled(talk, given), replay.repeated):
        return {"doubled": doubled}
    if unthought := _lost_thought(talk, given, spans):
        return {"thought": unthought}
    calls = {name: call for turn in talk.turns for name, call in turn.calls.items()}
    fault = call_fault(calls, replay.calls)
    return {"call": fault} if fault else {}


def _lost_thought(
    talk: SessionTalk, given: list[tuple[str, str]], spans: list[tuple[int, int]]
) -> str:
    """Rule 3."""
    if all(kind != "thought" for kind, _ in given):
        return ""
    for turn, (first, last) in zip(talk.turns, spans, strict=True):
        own = "".join(text for kind, text in given[first : last + 1] if kind == "thought")
        for _, text in _sought(turn, ("thought",)):
            if one_spelling(text) not in own:
                return text
    return ""


def _sought(turn: SpokenRuns, kinds: Collection[str]) -> Iterator[tuple[str, str]]:
    for kind, text in turn.texts():
        if kind in kinds and len(one_spelling(text)) >= _LEAST:
            yield kind, text


def _find(
    given: list[tuple[str, str]], kind: str, text: str, at: tuple[int, int]
) -> tuple[int, int] | None:
    """Behind which place of which run the text ends."""
    for place in range(at[0], len(given)):
        begun = at[1] if place == at[0] else 0
        if given[place][0] == kind and (found := given[place][1].find(text, begun)) >= 0:
            return place, found + len(text)
    return None


def _doubled(talk: SessionTalk, given: list[tuple[str, str]]) -> Iterator[str]:
    """Rule 5."""
    for kind in ("question", "message", "thought"):
        came = "\0".join(text for each, text in talk.said if each == kind)
        back = "\0".join(text for each, text in given if each == kind)
        for turn in talk.turns:
            for _, text in _sought(turn, (kind,)):
                spelled = one_spelling(text)
                is_known = talk.has_begun_here or len(spelled) >= _LONG
                if is_known and back.count(spelled) > came.count(spelled):
                    yield text
