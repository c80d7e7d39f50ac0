"""Talks of which parts are asked again, or that others run beside: right, and odd; and all rows."""

from __future__ import annotations

import json
from typing import Final

from msgspec.structs import replace

from conformance.core.events import Chunk, Exchange, Response
from tests.evidence.links import odd_histories as odd
from tests.evidence.links.odd_histories import (
    FIRST,
    LAST,
    OTHER_TEXT,
    Odd,
    another,
    asking,
    edited,
    history_in,
    numbered,
    respelled,
    user,
)
from tests.evidence.links.talks import TALKERS, TEXT, talk, with_history


def _refused(exchange: Exchange, status: int) -> Exchange:
    error = {"error": {"message": "Busy.", "type": "server_error", "code": status}}
    return replace(
        exchange,
        response=Response(status, "1.1", (("content-type", "application/json"),)),
        chunks=(Chunk(json.dumps(error).encode()),),
    )


def retried_when_refused(name: str) -> list[Exchange]:
    tries = [[_refused(e, 429), _refused(e, 503), e] for e in talk(TALKERS[name])]
    return numbered([each for tried in tries for each in tried])


def retried_when_cut(name: str) -> list[Exchange]:
    tries = [[_halved(e), e] for e in talk(TALKERS[name])]
    return numbered([each for tried in tries for each in tried])


def _halved(exchange: Exchange) -> Exchange:
    body = exchange.body
    return replace(exchange, chunks=(Chunk(body[: len(body) // 2]),), end="reset")


def hedged(name: str) -> list[Exchange]:
    """Every request goes out twice; the talk continues with the first answer."""
    pairs = zip(talk(TALKERS[name]), another(name), strict=True)
    return numbered(
        [each for one, two in pairs for each in (one, replace(two, request=one.request))]
    )


def hedged_with_second(name: str) -> list[Exchange]:
    pairs = zip(talk(TALKERS[name]), another(name), strict=True)
    return numbered(
        [each for one, two in pairs for each in (replace(two, request=one.request), one)]
    )


def retried_without_earlier_thinking(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    return numbered([*exchanges[:3], _refused(exchanges[3], 400), odd.thinking_left_out(name)[3]])


def asked_twice(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    return numbered([*exchanges, exchanges[3]])


def regenerated(name: str) -> list[Exchange]:
    """The third answer is made again, and the talk continues with that."""
    exchanges = talk(TALKERS[name])
    second = another(name, (TEXT, OTHER_TEXT))[2]
    later = edited(name, lambda h: respelled(h, (TEXT, OTHER_TEXT)))[3]
    return numbered([*exchanges[:3], replace(second, request=exchanges[2].request), later])


def regenerated_and_back(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    second = another(name, (TEXT, OTHER_TEXT))[2]
    return numbered([*exchanges[:3], replace(second, request=exchanges[2].request), exchanges[3]])


def branched(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    other = edited(name, lambda h: respelled(h, (LAST, "And at night?")))[3]
    return numbered([*exchanges, other])


def at_the_same_time(name: str) -> list[Exchange]:
    other = another(name, (FIRST, "When may a canoe pass?"), (TEXT, OTHER_TEXT))
    pairs = zip(talk(TALKERS[name]), other, strict=True)
    return numbered([each for pair in pairs for each in pair])


def same_agent_twice(name: str) -> list[Exchange]:
    pairs = zip(talk(TALKERS[name]), another(name), strict=True)
    return numbered([each for pair in pairs for each in pair])


def three_agents(name: str) -> list[Exchange]:
    one, two = talk(TALKERS[name]), another(name, (FIRST, "When may a canoe pass?"))
    three = another(name, (TEXT, OTHER_TEXT))
    order = (one[0], two[0], three[0], two[1], one[1], one[2], three[1], two[2], one[3], two[3])
    return numbered(order)


def _side(name: str, text: str, answer: str) -> Exchange:
    """A call beside the talk: one question, an answer of its own."""
    exchange = another(name, (TEXT, answer))[2]
    first = talk(TALKERS[name])[0]
    asked = with_history(first, TALKERS[name].history, [user(history_in(first, name), text)])
    return replace(asking(asked, tools=None), chunks=exchange.chunks)


def title_asked(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    side = _side(
        name, f"Write a title for: {FIRST} {TEXT}", "Barges under the old bridge, and when"
    )
    return numbered([*exchanges[:3], side, exchanges[3]])


def routed(name: str) -> list[Exchange]:
    """A router sees the same question first."""
    return numbered([_side(name, FIRST, '{"route": "tides"}'), *talk(TALKERS[name])])


def judged_by_model(name: str) -> list[Exchange]:
    exchanges = talk(TALKERS[name])
    return numbered([*exchanges[:3], _side(name, f"Is this right? {TEXT}", TEXT), exchanges[3]])


def next_question_guessed(name: str) -> list[Exchange]:
    """A copy of the talk asks what the user may say next; the talk knows nothing of it."""
    exchanges = talk(TALKERS[name])
    guess = edited(name, lambda h: respelled(h, (LAST, "What may I ask next?")))[3]
    made = replace(guess, chunks=another(name, (TEXT, OTHER_TEXT))[2].chunks)
    return numbered([*exchanges[:3], made, exchanges[3]])


def forked(name: str) -> list[Exchange]:
    """A helper gets the history of the loop, and is asked for something else."""
    exchanges = talk(TALKERS[name])
    key = TALKERS[name].history
    history = history_in(exchanges[2], name)
    helper = with_history(exchanges[2], key, [*history, user(history, "Only name the gauge.")])
    made = replace(helper, chunks=another(name, (TEXT, OTHER_TEXT))[2].chunks)
    return numbered([*exchanges[:2], made, *exchanges[2:]])


def recorded_twice(name: str) -> list[Exchange]:
    return numbered([*talk(TALKERS[name]), *talk(TALKERS[name])])


def recorded_backwards(name: str) -> list[Exchange]:
    return numbered(talk(TALKERS[name])[::-1])


ODD: Final[dict[str, Odd]] = {
    each.__name__: each
    for each in (
        *(odd.summarised, odd.window, odd.summarised_into_question),
        *(odd.summarised_by_model, odd.question_reworded, odd.started_anew),
        *(odd.thinking_left_out, odd.results_cleared, odd.result_shortened_in_loop),
        *(odd.spaces_trimmed, odd.lines_of_windows, odd.arguments_encoded_again),
        *(odd.keys_turned_round, odd.user_steers, odd.question_twice),
        *(odd.own_greeting, odd.interrupted, odd.interrupted_and_left_out),
        *(odd.last_pair_deleted, odd.image_left_out, odd.model_switched),
        *(odd.thinking_as_text_elsewhere, odd.prompt_with_date, odd.other_limits),
        *(odd.tools_left_out, odd.cache_mark_moved, retried_when_refused),
        *(retried_when_cut, hedged, hedged_with_second),
        *(retried_without_earlier_thinking, asked_twice, regenerated),
        *(regenerated_and_back, branched, at_the_same_time),
        *(same_agent_twice, three_agents, title_asked),
        *(routed, judged_by_model, next_question_guessed),
        *(forked, recorded_twice, recorded_backwards),
    )
}
