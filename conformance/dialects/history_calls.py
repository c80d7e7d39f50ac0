"""Calls and results in the history of a request, each with whether its other half is there.

Rule 1: `request.call` per call, with its `id`, the `position` of its entry and `answered`, then
        `request.result` per result, with `id`, `position` and `asked`.
Rule 2: results belong to the calls of the model's turn before them; APIs whose history is a list
        of items know no turns: there every result of the input counts.
Rule 3: where the server keeps a part of the history, a result whose call is not in the request has
        no `asked`: the call may be kept.
Rule 4: Gemini and Ollama pair by number: the id of a call is then its place in its turn, and so is
        that of a result. What has no name continues the call before it, and is none of its own.
        A call or a result without an id gives no event elsewhere.
Rule 5: Gemini takes a turn whose calls have no result at all: they are `left_open`.
Rule 6: a call has one result: one more under the same id is not asked for, unless a call has that
        id again.
Rule 7: a call whose id another one of the same turn has, too, is `doubled`.
Rule 8: where results are paired by number and every call has an id, a result with an id is
        `misnamed` if no call has it, or another result has taken it; of more results than calls
        the first ones count. In Ollama the name of the tool is that id.
Rule 9: a result in another turn than its call is one fault, of the result: the call is answered.
Rule 10: a result is `late` if another entry of the user's is between it and its call.
Rule 11: a result of Gemini is `renamed` if its name is not that of the call with its id, or without
        a known id of no call of its turn.
Rule 12: a call of a tool that the server may run itself gives no event, and its result none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from conformance.core.events import Event, Request
from conformance.core.json_values import value_at
from conformance.dialects.json_edge import elements, mapping, string

_MODEL: Final = frozenset({"assistant", "model"})
REFERENCES: Final = frozenset({"item_reference", "compaction"})
"""Kinds of entries that stand for what is not in the request."""


class CallIdPlace(Struct, frozen=True):
    """Where ids of calls, or of results, are in an entry of a history.

    `within` is the key of a list whose objects have them, empty where the entry itself has; `keys`
    lead to the id from there. Only objects of one of the `kinds` count, if there are any.
    `or_within`: an entry may be a turn, whose list under this key has them. `role`: every
    entry of this role is a result. `named` is the key of its tool's name, where results have no id.
    """

    keys: tuple[str, ...]
    within: str = ""
    kinds: frozenset[str] = frozenset()
    or_within: str = ""
    role: str = ""
    named: str = "id"

    def ids(self, entry: Any, *, numbered: bool) -> Iterator[str]:
        """The ids in an entry; `numbered`: an empty one for every named object at the keys."""
        fields = mapping(entry)
        if self.role:
            yield from ("",) if fields.get("role") == self.role else ()
            return
        listed = elements(fields.get(self.within or self.or_within))
        for holder in listed if self.within else (fields, *listed):
            if self.kinds and string(mapping(holder).get("type")) not in self.kinds:
                continue
            found = holder
            for key in self.keys:
                found = mapping(found).get(key)
            if numbered:
                if isinstance(found, dict) and found.get("name"):
                    yield ""
            elif isinstance(found, str) and found:
                yield found

    def own_ids(self, entry: Any) -> Iterator[tuple[str, str]]:
        """The ids and the names of what is numbered; empty where it has none."""
        if self.role and mapping(entry).get("role") == self.role:
            yield string(mapping(entry).get(self.named)), ""
        for holder in elements(mapping(entry).get(self.within)):
            found = mapping(holder).get(self.keys[0])
            if isinstance(found, dict) and found.get("name"):
                yield string(found.get(self.named)), string(found["name"])


class _SpareResults(Struct):
    """Rule 6: how often each id was called, and every result with the position of its entry.

    `own_calls` and `own_results` are the ids and names of what is paired by number.
    """

    calls: Counter[str] = field(default_factory=Counter)
    results: list[tuple[str, int]] = field(default_factory=list)
    own_calls: list[tuple[str, str]] = field(default_factory=list)
    own_results: list[tuple[str, str]] = field(default_factory=list)

    @property
    def misnamed(self) -> frozenset[str]:
        """Rule 8: the numbers of the results with an id that is none of theirs."""
        left = Counter(name for name, _ in self.own_calls)
        found = []
        for number, (name, _) in enumerate(self.own_results if all(left) else (), 1):
            if name and not left[name] and number <= len(self.own_calls):
                found.append(str(number))
            left[name] -= bool(left[name])
        return frozenset(found) if self.own_calls else frozenset()

    @property
    def renamed(self) -> frozenset[str]:
        """Rule 11: the numbers of the results with a name that is not the one of their call."""
        made = dict(self.own_calls)
        others = {tool for _, tool in self.own_calls}
        found = (
            number
            for number, (name, tool) in enumerate(self.own_results, 1)
            if tool and others and tool not in ({made[name]} if name and name in made else others)
        )
        return frozenset(map(str, found))

    @property
    def doubled(self) -> frozenset[str]:
        """Rule 7: the ids that more than one call of the turn has."""
        return frozenset(name for name, count in self.calls.items() if name and count > 1)

    def surplus(self) -> list[tuple[str, int]]:
        """Each result that comes again and has no call of its own."""
        counts: Counter[str] = Counter()
        found = []
        for name, position in self.results:
            counts[name] += 1
            if name and counts[name] > max(self.calls[name], 1):
                found.append((name, position))
        return found

    def events(self) -> Iterator[Event]:
        """One for each result that comes again."""
        for name, position in self.surplus():
            data = {"id": name, "position": position, "asked": False}
            yield Event("request.result", data, 0, "wire")


class CallPairing(Struct, frozen=True):
    """How an API pairs calls with results.

    `kept_by` are dotted paths to names of what the server has of the history, `answered_by` those
    that name an answer which the request continues from; `kept_in` is a piece of the paths under
    which the server keeps the conversation.

    `takes_none`: the API takes a turn whose calls have no result at all. `optional`: calls
    that need no result in the request, and may have one.
    """

    calls: CallIdPlace
    results: CallIdPlace
    has_turns: bool = True
    is_numbered: bool = False
    takes_none: bool = False
    kept_by: tuple[str, ...] = ()
    answered_by: tuple[str, ...] = ()
    kept_in: str = ""
    optional: CallIdPlace | None = None

    def is_kept(self, request: Request) -> bool:
        """Whether the server has a part of the history."""
        is_named = _names(request.json, (*self.kept_by, *self.answered_by))
        return is_named or (bool(self.kept_in) and self.kept_in in request.path)

    def goes_on(self, body: Any) -> bool:
        """Whether the server keeps the earlier answers, so that they need not be sent back."""
        return _names(body, self.answered_by)

    def events(self, request: Request, history: Iterable[Any]) -> Iterator[Event]:
        """Wire events of all calls and results, all with number 0."""
        turns = list(self._turns(request, history))
        strays = frozenset(name for each in turns for name in each.strays)
        for each in turns:
            yield from each.events(strays, takes_none=self.takes_none)

    def _turns(self, request: Request, history: Iterable[Any]) -> Iterator[_ModelTurn]:
        """Each turn of the model, with the results that follow it."""
        turn = _ModelTurn(self.is_kept(request))
        model_spoke = False
        for position, entry in enumerate(history):
            fields = mapping(entry)
            turn.is_kept = turn.is_kept or string(fields.get("type")) in REFERENCES
            is_model = string(fields.get("role")) in _MODEL
            if self.has_turns and is_model and not model_spoke:
                yield turn
                turn = _ModelTurn(turn.is_kept)
            model_spoke = is_model
            self._take(turn, fields, position)
        yield turn

    def _take(self, turn: _ModelTurn, entry: Mapping[str, Any], position: int) -> None:
        for name in self.calls.ids(entry, numbered=self.is_numbered):
            turn.spare.calls[name] += 1
            turn.calls.setdefault(name or str(len(turn.calls) + 1), position)
        if self.optional is not None:
            turn.unpaired.update(self.optional.ids(entry, numbered=False))
        every = self.results.ids(entry, numbered=self.is_numbered)
        found = [name for name in every if name not in turn.unpaired]
        for name in found:
            turn.spare.results.append((name, position))
            number = name or str(len(turn.results) + 1)
            turn.results.setdefault(number, position)
            if turn.is_interrupted:
                turn.late.add(number)
        turn.is_interrupted |= self.has_turns and entry.get("role") == "user" and not found
        if self.is_numbered:
            turn.spare.own_calls += self.calls.own_ids(entry)
            turn.spare.own_results += self.results.own_ids(entry)


class _ModelTurn(Struct):
    """A turn of the model: its calls and results by id, with the positions of their entries.

    `late` are the results that come after something else of the user's, `unpaired` the calls of
    rule 12.
    """

    is_kept: bool
    calls: dict[str, int] = field(default_factory=dict)
    results: dict[str, int] = field(default_factory=dict)
    spare: _SpareResults = field(default_factory=_SpareResults)
    late: set[str] = field(default_factory=set)
    unpaired: set[str] = field(default_factory=set)
    is_interrupted: bool = False

    @property
    def strays(self) -> Iterator[str]:
        """Results with an id that is none of this turn's calls."""
        named = {name for name, _ in self.spare.results if name}
        return (name for name in named if name not in self.calls)

    def events(self, strays: frozenset[str], *, takes_none: bool) -> Iterator[Event]:
        """One for each call and each result; `strays` are those of all turns (rule 9)."""
        # A result under another id is one fault, not two: the call has it, under a wrong name.
        strangers = sum(name not in self.calls for name in self.results)
        strangers += len(self.spare.surplus())
        doubled, misnamed, renamed = self.spare.doubled, self.spare.misnamed, self.spare.renamed
        left_open = {"left_open": True} if takes_none and not self.results else {}
        for name, position in self.calls.items():
            is_answered = name in self.results or strangers > 0 or name in strays
            strangers -= name not in self.results
            data = {"id": name, "position": position, "answered": is_answered, **left_open}
            data |= {"doubled": True} if name in doubled else {}
            yield Event("request.call", data, 0, "wire")
        for name, position in self.results.items():
            is_called = name in self.calls
            data = {"id": name, "position": position}
            data |= {"asked": is_called} if is_called or not self.is_kept else {}
            data |= {"misnamed": True} if name in misnamed else {}
            data |= {"renamed": True} if is_called and name in renamed else {}
            data |= {"late": True} if is_called and name in self.late else {}
            yield Event("request.result", data, 0, "wire")
        yield from self.spare.events()


OF_CHAT: Final = CallPairing(CallIdPlace(("id",), "tool_calls"), CallIdPlace(("tool_call_id",)))
OF_AGUI: Final = CallPairing(CallIdPlace(("id",), "toolCalls"), CallIdPlace(("toolCallId",)))
OF_MESSAGES: Final = CallPairing(
    CallIdPlace(("id",), "content", frozenset({"tool_use"})),
    CallIdPlace(("tool_use_id",), "content", frozenset({"tool_result"})),
    answered_by=("thread.previous_message_id",),
)
OF_CONVERSE: Final = CallPairing(
    CallIdPlace(("toolUse", "toolUseId"), "content"),
    CallIdPlace(("toolResult", "toolUseId"), "content"),
)
OF_RESPONSES: Final = CallPairing(
    CallIdPlace(("call_id",), kinds=frozenset({"function_call", "custom_tool_call"})),
    CallIdPlace(("call_id",), kinds=frozenset({"function_call_output", "custom_tool_call_output"})),
    has_turns=False,
    kept_by=("prompt",),
    answered_by=("previous_response_id", "conversation"),
    optional=CallIdPlace(
        ("call_id",),
        kinds=frozenset(
            {
                "tool_search_call",
                "computer_call",
                "local_shell_call",
                "shell_call",
                "apply_patch_call",
            }
        ),
    ),
)
OF_INTERACTIONS: Final = CallPairing(
    CallIdPlace(("id",), kinds=frozenset({"function_call"}), or_within="content"),
    CallIdPlace(("call_id",), kinds=frozenset({"function_result"}), or_within="content"),
    has_turns=False,
    answered_by=("previous_interaction_id",),
)
OF_LANGGRAPH: Final = CallPairing(
    CallIdPlace(("id",), "tool_calls"),
    CallIdPlace(("tool_call_id",)),
    has_turns=False,
    kept_in="/threads/",
)
OF_CONVERSATIONS: Final = CallPairing(
    CallIdPlace(("tool_call_id",), kinds=frozenset({"function.call"})),
    CallIdPlace(("tool_call_id",), kinds=frozenset({"function.result"})),
    has_turns=False,
    kept_in="/conversations/",
)
OF_ADK: Final = CallPairing(
    CallIdPlace(("functionCall", "id")),
    CallIdPlace(("functionResponse", "id")),
    has_turns=False,
    kept_by=("sessionId",),
)
OF_GEMINI: Final = CallPairing(
    CallIdPlace(("functionCall",), "parts"),
    CallIdPlace(("functionResponse",), "parts"),
    is_numbered=True,
    takes_none=True,
    kept_by=("cachedContent",),
)
OF_OLLAMA: Final = CallPairing(
    CallIdPlace(("function",), "tool_calls", named="name"),
    CallIdPlace((), role="tool", named="tool_name"),
    is_numbered=True,
)
PAIRINGS: Final[Mapping[str, CallPairing]] = {
    "openai.chat": OF_CHAT,
    "mistral.chat": OF_CHAT,
    "anthropic.messages": OF_MESSAGES,
    "bedrock.converse": OF_CONVERSE,
    "openai.responses": OF_RESPONSES,
    "gemini.generate": OF_GEMINI,
}
"""By dialect: those whose API is known to refuse a call without its result."""


def goes_on_from_kept(dialect: str, body: Any) -> bool:
    """Whether a request continues from answers that its server keeps."""
    return dialect in PAIRINGS and PAIRINGS[dialect].goes_on(body)


def _names(body: Any, paths: Iterable[str]) -> bool:
    return any(value_at(body, *path.split(".")) for path in paths)
