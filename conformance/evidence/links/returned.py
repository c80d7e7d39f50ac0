"""The calls and the text of an answer, and of the turn that brings it back, in any dialect.

Rule 1: `turn.call` has `call`, the name and the arguments as JSON, and `place`: its number and what
it was in its answer. Only calls that need no repair count:
JSON, of a tool that the request offers, as its schema wants them.
Rule 2: a call that comes back is the one with its id; those without a known id are the others in
their order, if they are as many. If they are not, a call without any id is the one that says the
same: each in turn, and one of them again if all have come. What is no call of the answer gives no
event.
Rule 3: keys besides those that the model wrote are defaults of the client's; null may be left out,
and a key that the schema does not describe where it describes others: such a call is the same.
Rule 4: `turn.text` has the `text`, `added`, the text without the answer's own, and `unmarked`, what
of that stands between no marks: templates of chats take out what does. A beginning of the text,
which an attempt that was cut leaves, or one of its blocks, is added as the text is. `words` are
those of the answer if the text has all their letters, is JSON of the same value, or lacks only what
is between marks; else they are the text. An answer with calls has no `words`, nor has one that
stopped at a limit, or a turn that was shortened later on.
Rule 5: `turn.doubled` has the `place` of an entry that says word for word what one before it in its
run says; no other event is made of that entry.
Rule 6: `turn.misplaced` has the `place` of the entry that stands on the wrong side of the turn,
`turn.asked_twice` that of a question which stands before it once more than it was answered, and
`turn.rival` that of another answer to the same request, which stands before it in its run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.core.events import Event
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.core.spelling import one_spelling
from conformance.dialects.marked_texts import PAIRS
from conformance.dialects.turns import HistoryCall
from conformance.judging.offered_tools import OfferedTools
from conformance.judging.tool_schema import SchemaPlace

CALL: Final = "turn.call"
TEXT: Final = "turn.text"
DOUBLED: Final = "turn.doubled"
MISPLACED: Final = "turn.misplaced"
ASKED_TWICE: Final = "turn.asked_twice"
RIVAL: Final = "turn.rival"
_FITS: Final = "fits"
_SHORTENED: Final = 0.9  # of a text: what is shorter was shortened
_LEAST_AGAIN: Final = 12  # characters, spelled: two texts do not begin so by chance
_WORDS: Final = ("thinking", "thought", "reasoning")  # that clients write around what was thought
_MARKS: Final = (*PAIRS, *((f"<{each}>", f"</{each}>") for each in _WORDS))


def made_call(call: HistoryCall, place: int, number: int) -> Event:
    """A call of an answer, the one with this place there, in this frame."""
    return _call_event(call, call, place, number)


def _call_event(made: HistoryCall, back: HistoryCall, place: int, number: int = 0) -> Event:
    return Event(CALL, {"call": back.shown, "place": f"{place + 1}. {made.shown}"}, number, "wire")


def is_sound(arguments: Any, fit: str | None) -> bool:
    """Rule 1, of a call with such arguments, and how they fit the schema."""
    is_json = not isinstance(arguments, str) or decode_json(arguments or "{}") is not NOT_JSON
    return is_json and (fit is None or fit.startswith(_FITS))


def returned_calls(
    made: Sequence[HistoryCall],
    sound: frozenset[int],
    back: Sequence[HistoryCall],
    offered: OfferedTools | None,
) -> Iterator[Event]:
    """Calls that come back, as those that they are; `sound` are the places of those that count."""
    for place, call in _paired(made, back):
        if place in sound:
            one = made[place]
            schema = offered.schema(call.name) if offered is not None else None
            said, has = decode_json(one.arguments), decode_json(call.arguments)
            is_same = call.name == one.name and not _alters(said, has, SchemaPlace.of(schema))
            yield _call_event(one, one if is_same else call, place)


def entry_event(kind: str, place: str) -> Event:
    """Rules 5 and 6."""
    return Event(kind, {"place": place}, 0, "wire")


def returned_text(texts: Sequence[str], back: str, words: str | None) -> Event:
    """Rule 4; `texts` are those of the answer, block by block, spelled."""
    said, spelled = "".join(texts), one_spelling(back)
    added = spelled.replace(said, "", 1)
    is_again = said.startswith(added) or added in texts
    if len(added) >= _LEAST_AGAIN and said in spelled and is_again:
        added = said
    data = {"text": back, "added": added, "unmarked": _unmarked(added)}
    return Event(TEXT, data if words is None else {**data, "words": words}, 0, "wire")


def returned_words(said: str, back: str, *, is_latest: bool) -> str | None:
    """`words` of rule 4, of an answer without calls; `said` is spelled."""
    spelled = one_spelling(back)
    if not said or spelled == _unmarked(said) or _is_same_json(said, back):
        return said or None
    if _letters(said) in _letters(spelled):
        return said
    is_shortened = len(spelled) < len(said) * _SHORTENED
    return back if is_latest or not is_shortened else None


def _letters(text: str) -> str:
    """Recorders and stores straighten quotes and dashes."""
    return "".join(filter(str.isalnum, text))


def _is_same_json(said: str, back: str) -> bool:
    """The one is spelled: white space within texts is lost."""
    one, other = decode_json(said), decode_json(one_spelling(back))
    return one is not NOT_JSON and bool(one == other)


def _unmarked(text: str) -> str:
    """A text without what stands between marks, or before one that only closes."""
    for opens, closes in _MARKS:
        first, *inside = text.split(opens)
        text = first + "".join(each.partition(closes)[2] for each in inside)
        text = text.rpartition(closes)[2]
    return text


def _paired(
    made: Sequence[HistoryCall], back: Sequence[HistoryCall]
) -> Iterator[tuple[int, HistoryCall]]:
    """Rule 2."""
    counts = Counter(call.id for call in made)
    known = {call.id: place for place, call in enumerate(made) if call.id and counts[call.id] == 1}
    met = {call.id for call in back} & known.keys()
    others = [place for place, call in enumerate(made) if call.id not in met]
    strange = [call for call in back if call.id not in met]
    order = iter(others if len(others) == len(strange) else ())
    alike = iter(() if len(others) == len(strange) else _alike(made, others, strange))
    for call in back:
        place = known[call.id] if call.id in met else next(order, next(alike, None))
        if place is not None and (call.id in met or not call.id or call.name == made[place].name):
            yield place, call


def _alike(
    made: Sequence[HistoryCall], others: Sequence[int], strange: Sequence[HistoryCall]
) -> Iterator[int | None]:
    """For each strange call without an id the place of one of the others that says the same."""
    left = list(others)
    for call in strange:
        found = [place for place in others if not call.id and made[place][1:] == call[1:]]
        place = next((each for each in found if each in left), *found[:1] or (None,))
        if place in left:
            left.remove(place)
        yield place


def _alters(said: Any, has: Any, at: SchemaPlace) -> bool:
    """Rule 3; the schema says something of the arguments there."""
    if isinstance(said, dict) and isinstance(has, dict):
        lost = (key for key, value in said.items() if key not in has and value is not None)
        shared = (key for key in said if key in has)
        return any(map(at.knows, lost)) or any(
            _alters(said[key], has[key], at.under(key)) for key in shared
        )
    if isinstance(said, list) and isinstance(has, list):
        pairs = zip(said, has, strict=False)
        return len(said) != len(has) or any(_alters(one, two, at.element) for one, two in pairs)
    return bool(said != has) or isinstance(said, bool) is not isinstance(has, bool)
