"""Talks that look odd and are right: what clients do to a history, and what else they change."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.dialects.turns import HistoryEntry
from tests.evidence.links.talks import (
    TALKERS,
    TEXT,
    Body,
    Talker,
    history_of,
    seal,
    talk,
    thought,
    with_history,
)

History = list[Any]
Odd = Callable[[str], list[Exchange]]
FIRST: Final = "When may a barge pass?"
LAST: Final = "And then?"
OTHER_TEXT: Final = (
    "A canoe may pass at any hour of the day, whatever the gauge of the bridge says."
)
_NAMES_IN: Final = ("call0000", "rs_", "fc_", "msg_", "resp_", "chatcmpl-", "v1_")
_CACHE: Final = {"type": "ephemeral"}


def _inner(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def respelled(value: Any, *pairs: tuple[str, str]) -> Any:
    """The value with other words, wherever these stand."""
    text = json.dumps(value, ensure_ascii=False)
    for old, new in pairs:
        text = text.replace(_inner(old), _inner(new))
    return json.loads(text)


def asking(exchange: Exchange, **changed: Any) -> Exchange:
    """The exchange with other fields in its request; None takes one away."""
    assert exchange.request is not None
    body = {**exchange.request.json, **changed}
    body = {key: value for key, value in body.items() if value is not None}
    return replace(exchange, request=replace(exchange.request, json=body))


def edited(name: str, edit: Callable[[History], History], *places: int) -> list[Exchange]:
    """The talk with an edit of the histories of some requests, of the last one unless named."""
    exchanges, key = talk(TALKERS[name]), TALKERS[name].history
    for at in places or (3,):
        exchanges[at] = with_history(exchanges[at], key, edit(history_of(exchanges[at], key)))
    return exchanges


def numbered(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [replace(each, number=number) for number, each in enumerate(exchanges, 1)]


def another(name: str, *pairs: tuple[str, str]) -> list[Exchange]:
    """The talk with other ids and seals, and other words where pairs say so."""
    talker = TALKERS[name]

    def body(turn: int) -> Body:
        ids = [(f"{each}{turn}", f"{each}{turn + 4}") for each in _NAMES_IN]
        made: Body = respelled(talker.body(turn), *ids, (seal(turn), seal(turn + 4)), *pairs)
        return made

    other = Talker(talker.dialect, talker.profile, body, talker.path, **talker.more)
    exchanges = talk(other)
    return [with_body(each, respelled(body_of(each), *pairs)) for each in exchanges]


def body_of(exchange: Exchange) -> Any:
    assert exchange.request is not None
    return exchange.request.json


def with_body(exchange: Exchange, body: Any) -> Exchange:
    assert exchange.request is not None
    return replace(exchange, request=replace(exchange.request, json=body))


def user(history: History, text: str) -> Any:
    """What the user says, as the entries of this history have it."""
    return respelled(history[0], (FIRST, text))


def read(name: str, entry: Any) -> HistoryEntry:
    turns = get(TALKERS[name].dialect).turns
    assert turns is not None
    return turns.read(entry)


def _is_result(name: str, entry: Any) -> bool:
    return read(name, entry).by == "tool"


def _last_question(name: str, history: History) -> int:
    return max(at for at, each in enumerate(history) if read(name, each).by == "user")


# What a client does to the history.
def summarised(name: str) -> list[Exchange]:
    return edited(name, lambda h: [user(h, "So far: at four."), h[_last_question(name, h)]])


def window(name: str) -> list[Exchange]:
    return edited(name, lambda h: h[_last_question(name, h) :])


def summarised_into_question(name: str) -> list[Exchange]:
    return edited(name, lambda h: [user(h, f"So far: {TEXT}\n\nNow: and then?")])


def summarised_by_model(name: str) -> list[Exchange]:
    """The model is asked for a summary, which replaces what it sums up."""
    exchanges = talk(TALKERS[name])
    ask = with_history(
        exchanges[3],
        TALKERS[name].history,
        [
            *history_of(exchanges[3], TALKERS[name].history)[:-1],
            user(history_in(exchanges[0], name), "Sum this up."),
        ],
    )
    summed = replace(ask, chunks=another(name, (TEXT, OTHER_TEXT))[2].chunks)
    after = edited(name, lambda h: [user(h, f"So far: {OTHER_TEXT}"), h[-1]])[3]
    return [*exchanges[:3], summed, after]


def history_in(exchange: Exchange, name: str) -> History:
    return history_of(exchange, TALKERS[name].history)


def question_reworded(name: str) -> list[Exchange]:
    return edited(name, lambda h: respelled(h, (FIRST, "When may the barge go?")))


def started_anew(name: str) -> list[Exchange]:
    return edited(name, lambda h: [user(h, "When may the barge go?")])


def thinking_left_out(name: str) -> list[Exchange]:
    """Thinking of turns that are over, whole."""
    exchanges = talk(TALKERS[name])
    texts = [e for e in history_in(exchanges[3], name) if _is_plain(name, e)]
    return [*exchanges[:3], with_history(exchanges[3], TALKERS[name].history, texts)]


def _is_plain(name: str, entry: Any) -> bool:
    turn = read(name, entry)
    return not turn.calls and turn.by != "tool" and not turn.thought and bool(turn.text)


def results_cleared(name: str) -> list[Exchange]:
    return edited(name, lambda h: respelled(h, ("at 1", "[cleared]"), ("at 2", "[cleared]")))


def result_shortened_in_loop(name: str) -> list[Exchange]:
    return edited(name, lambda h: respelled(h, ("at 1", "at")), 2, 3)


def spaces_trimmed(name: str) -> list[Exchange]:
    return edited(name, lambda h: respelled(h, (TEXT, f" {TEXT}")))


def lines_of_windows(name: str) -> list[Exchange]:
    return edited(name, lambda h: respelled(h, (", so the", ",\r\nso the")))


def arguments_encoded_again(name: str) -> list[Exchange]:
    return edited(name, lambda h: respelled(h, ('{"hour": 1}', '{"hour":1}')), 1, 2, 3)


def keys_turned_round(name: str) -> list[Exchange]:
    return edited(name, lambda h: [dict(reversed(each.items())) for each in h], 1, 2, 3)


def user_steers(name: str) -> list[Exchange]:
    return edited(name, lambda h: [*h, user(h, "Hurry, please.")], 1, 2)


def question_twice(name: str) -> list[Exchange]:
    return edited(name, lambda h: [*h, h[-1]])


def own_greeting(name: str) -> list[Exchange]:
    """Words that the client puts into the mouth of the model."""

    def edit(history: History) -> History:
        place = next(n for n, e in enumerate(history) if read(name, e).text == TEXT)
        hello = respelled(history[place], (TEXT, "How can I help you?"))
        return [user(history, "Hello."), hello, *history]

    return edited(name, edit)


def interrupted(name: str) -> list[Exchange]:
    """The answer was stopped, and its half goes back with a note."""
    half = TEXT[:30]
    stopped = talk(TALKERS[name])
    stopped[2] = replace(stopped[2], end="client-closed")
    later = edited(name, lambda h: respelled(h, (TEXT, half), (LAST, "[interrupted] Go on.")))
    return [*stopped[:3], later[3]]


def interrupted_and_left_out(name: str) -> list[Exchange]:
    stopped = talk(TALKERS[name])
    stopped[2] = replace(stopped[2], end="client-closed")
    later = edited(name, lambda h: [e for e in h if read(name, e).text != TEXT])
    return [*stopped[:3], later[3]]


def last_pair_deleted(name: str) -> list[Exchange]:
    return edited(name, lambda h: [h[0], *h[-1:]])


def image_left_out(name: str) -> list[Exchange]:
    """What the user attached is a note in the next request."""
    exchanges = talk(TALKERS[name])
    asked = respelled(body_of(exchanges[0]), (FIRST, f"{FIRST} [image of 40 kB]"))
    later = [respelled(body_of(e), (FIRST, f"{FIRST} (image omitted)")) for e in exchanges[1:]]
    bodies = [asked, *later]
    return [with_body(each, body) for each, body in zip(exchanges, bodies, strict=True)]


# What else changes in a request.
def model_switched(name: str) -> list[Exchange]:
    exchanges = thinking_left_out(name)
    return [*exchanges[:3], asking(exchanges[3], model="another-2")]


def thinking_as_text_elsewhere(name: str) -> list[Exchange]:
    """Another model gets what the first one thought as plain text."""
    exchanges = edited(name, lambda h: respelled(h, (TEXT, f"{thought(1)}\n\n{TEXT}")))
    return [*exchanges[:3], asking(exchanges[3], model="another-2")]


def prompt_with_date(name: str) -> list[Exchange]:
    form = get(TALKERS[name].dialect).request
    key = form.instructions if form is not None and form.instructions else ""
    exchanges = talk(TALKERS[name])
    days = [f"Today is the {each}th of May." for each in (4, 5, 6, 7)]
    if key:
        parts = [{"parts": [{"text": d}]} if key.endswith("nstruction") else d for d in days]
        values = [[{"text": d}] for d in days] if name == "converse" else parts
        return [asking(e, **{key: v}) for e, v in zip(exchanges, values, strict=True)]
    key = TALKERS[name].history
    prompts = [{"role": "system", "content": day} for day in days]
    pairs = zip(exchanges, prompts, strict=True)
    return [with_history(e, key, [prompt, *history_in(e, name)]) for e, prompt in pairs]


def other_limits(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    return [
        asking(e, temperature=at / 10, metadata={"n": str(at)}) for at, e in enumerate(exchanges)
    ]


def tools_left_out(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    return [*exchanges[:3], asking(exchanges[3], tools=None)]


def cache_mark_moved(name: str) -> list[Exchange]:
    """The mark stands on the last entry of each request."""
    exchanges, key = talk(TALKERS[name]), TALKERS[name].history
    for at, each in enumerate(exchanges):
        history = history_in(each, name)
        if isinstance(history[-1].get("content"), list):
            if name == "converse":
                history[-1]["content"].append({"cachePoint": {"type": "default"}})
            else:
                history[-1]["content"][-1]["cache_control"] = _CACHE
        exchanges[at] = with_history(each, key, history)
    return exchanges
