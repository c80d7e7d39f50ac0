"""Streams of the Responses API that keep the rules, in the shapes of real servers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from tests.authoring.draft import JSON_BODY, Draft, stream_draft
from tests.authoring.pieces import DONE, Fields, Message, comment, compact, cut, deltas
from tests.authoring.responses import (
    Answer,
    Item,
    call,
    closed,
    content,
    counted,
    message,
    raw_thinking,
    refusal,
    stream,
    summarised,
)

DIALECT: Final = "openai.responses"
THINKING: Final = Item(0, "rs_01")
TEXT: Final = Item(1, "msg_02")

PICNIC: Final = (
    "**Looking at the sky**\n\nThe user plans a picnic and clouds are forecast.",
    "**Weighing places**\n\nA pavilion keeps the food dry, a meadow does not.",
    "**Thinking of time**\n\nRain is expected after three, so noon is safe.",
    "**Putting it together**\n\nI will name a place, an hour and a spare plan.",
)
PICNIC_TEXT: Final = "Meet at the pavilion at noon; if it pours, we eat in the library café."
DUSK: Final = (
    "Street lamps are lit at dusk.",
    "So the hour that is asked for is in the evening, whatever the season.",
)
DUSK_TEXT: Final = "They are lit in the evening."
TEA: Final = "The water has to be cooler than boiling for green tea, about eighty degrees."

drafted = partial(stream_draft, dialect=DIALECT, path="/v1/responses")


def _asked(prompt: str, **more: Any) -> Fields:
    reasoning = {"effort": "medium", "summary": "auto"}
    return {"model": "think-1", "input": prompt, "reasoning": reasoning, "stream": True, **more}


def _answer(asked: Fields) -> Answer:
    return Answer("resp_00", "think-1", asked)


def drafts() -> Iterator[Draft]:
    yield from _summaries()
    yield from _raw()
    yield from _ends()
    yield from _gateways()
    yield from _edges()


def _summaries() -> Iterator[Draft]:
    asked = _asked("Plan our picnic, it may rain.", include=["reasoning.encrypted_content"])
    items = [
        *summarised(THINKING, PICNIC, encrypted=True, padded=True),
        *message(TEXT, PICNIC_TEXT),
    ]
    events = _answer(asked).completed(items, (13, 210, 160))
    yield drafted("openai/summary-four-parts", asked, stream(events), profile="openai")

    asked = _asked("When are street lamps lit?")
    items = [*summarised(THINKING, DUSK), *message(TEXT, DUSK_TEXT)]
    yield drafted("demo/summary", asked, stream(_answer(asked).completed(items, (12, 27, 19))))

    asked = _asked("Is it raining in Oslo?", tools=[_tool("get_weather", "city")])
    items = [
        *summarised(THINKING, ["**Asking the tool**\n\nOnly the weather service knows this."]),
        *call(TEXT, "get_weather", '{"city":"Oslo"}', ['{"ci', 'ty":"', 'Oslo"}']),
    ]
    yield drafted("openai/summary-then-call", asked, _opened(asked, items, (40, 31, 18)))

    items = [
        *summarised(THINKING, [], encrypted=True),
        *message(TEXT, "Seven times eight is fifty-six."),
    ]
    asked = _asked("What is seven times eight?")
    yield drafted("openai/reasoning-not-shown", asked, _opened(asked, items, (11, 74, 64)))


def _opened(asked: Fields, items: list[Fields], usage: tuple[int, int, int]) -> tuple[Message, ...]:
    return stream(_answer(asked).completed(items, usage))


def _raw() -> Iterator[Draft]:
    asked = _asked("How hot should water for green tea be?")
    items = [*raw_thinking(THINKING, TEA), *message(TEXT, "About eighty degrees.")]
    yield drafted(
        "deepseek/raw-thinking", asked, _opened(asked, items, (12, 30, 22)), profile="deepseek"
    )

    asked = _asked("Is it raining in Oslo?", tools=[_tool("get_weather", "city")])
    items = [
        *raw_thinking(THINKING, "The user asks for weather, which only the tool can tell me."),
        *message(TEXT, "Let me look."),
        *call(Item(2, "fc_03"), "get_weather", '{"city":"Oslo"}'),
    ]
    yield drafted(
        "lmstudio/raw-thinking-then-call",
        asked,
        _opened(asked, items, (52, 33, 16)),
        profile="lmstudio",
    )


def _ends() -> Iterator[Draft]:
    asked = _asked("Prove that there is no largest prime.", max_output_tokens=32)
    answer = _answer(asked)
    items = summarised(THINKING, [])
    usage = counted((14, 32, 32))
    end = answer.closing(
        "incomplete", closed(items), usage=usage, incomplete_details={"reason": "max_output_tokens"}
    )
    yield drafted("openai/incomplete-in-reasoning", asked, stream([*answer.opening(), *items, end]))

    yield _incomplete_in_text()

    asked = _asked("Write a poem about toast.")
    answer = _answer(asked)
    fault = {"type": "server_error", "code": "server_error", "message": "The model is overloaded."}
    failed = answer.closing("failed", [], error=cut(fault, "type"))
    events = [*answer.opening(), {"type": "error", "error": fault}, failed]
    yield drafted("openai/error-then-failed", asked, stream(events), profile="openai")

    asked = _asked("Tell me how to pick the lock of my neighbour's door.")
    items = refusal(Item(0, "msg_01"), "I cannot help with opening a door that is not yours.")
    yield drafted("openai/refusal", asked, _opened(asked, items, (16, 14, 0)))


def _incomplete_in_text() -> Draft:
    """The limit is met inside the message, which is closed as incomplete."""
    asked = _asked("List every bridge of Venice.", max_output_tokens=40)
    answer = _answer(asked)
    text: Fields = {"type": "output_text", "text": "Rialto, Scalzi, Accademia,", "annotations": []}
    known = {"type": "message", "role": "assistant"}
    items = [
        *summarised(THINKING, ["**Counting**\n\nVenice has over four hundred bridges."]),
        TEXT.added(**known, status="in_progress", content=[]),
        *content(TEXT, "output_text", text, deltas(text["text"], 1)),
    ]
    open_item = {"id": TEXT.id, **known, "status": "incomplete", "content": [text]}
    end = answer.closing(
        "incomplete",
        [*closed(items), open_item],
        usage=counted((10, 40, 25)),
        incomplete_details={"reason": "max_output_tokens"},
    )
    done = TEXT.done(**known, status="incomplete", content=[text])
    return drafted(
        "openai/incomplete-in-text", asked, stream([*answer.opening(), *items, done, end])
    )


def _gateways() -> Iterator[Draft]:
    asked = _asked("How hot should water for green tea be?")
    thinking = raw_thinking(THINKING, TEA)
    text = message(TEXT, "About eighty degrees.")
    # The reasoning item stays open until the message is complete.
    items = [*thinking[:-3], *text, *thinking[-3:]]
    pieces = stream(_answer(asked).completed(items, (12, 30, 22)), named=False)
    waiting = comment("GATEWAY PROCESSING")
    yield drafted(
        "openrouter/overlapping-items",
        asked,
        [waiting, waiting, *pieces, DONE],
        profile="openrouter",
    )

    asked = _asked("When are street lamps lit?", store=False)
    items = [*summarised(THINKING, DUSK[1:], encrypted=True), *message(TEXT, DUSK_TEXT)]
    events = _answer(asked).completed(items, (12, 27, 19))
    yield drafted(
        "copilot/rotating-ids",
        asked,
        stream(_rotated(event, number) for number, event in enumerate(events)),
        profile="copilot",
    )

    asked = _asked("What do people say about tides today?", tools=[{"type": "x_search"}])
    items = [
        *summarised(THINKING, ["I search twice, then I compare what both searches found."]),
        *_searches(),
        *message(Item(3, "msg_04"), "People watch the spring tide."),
    ]
    yield drafted(
        "xai/parallel-searches", asked, _opened(asked, items, (30, 60, 41)), profile="xai"
    )

    asked = _asked("When are street lamps lit?")
    items = [*summarised(THINKING, DUSK[1:]), *message(TEXT, DUSK_TEXT)]
    yield drafted(
        "azure/summary-not-counted", asked, _opened(asked, items, (12, 27, 0)), profile="azure"
    )


def _searches() -> list[Fields]:
    """Two server-side searches that are open at once."""
    places = [Item(1, "ctc_02"), Item(2, "ctc_03")]
    known = {"type": "x_search_call", "name": "x_keyword_search"}
    return [
        *(place.added(**known, status="in_progress") for place in places),
        *(place.done(**known, status="completed") for place in places),
    ]


def _rotated(event: Fields, number: int) -> Fields:
    """The event with ids that no other event has."""
    changed = dict(event)
    if "item_id" in event:
        changed["item_id"] = f"rot-{number}-item"
    for holder in ("item", "response"):
        if holder in event:
            changed[holder] = {**event[holder], "id": f"rot-{number}-{holder}"}
    if output := event.get("response", {}).get("output"):
        renamed = [{**item, "id": f"rot-{number}-{n}"} for n, item in enumerate(output)]
        changed["response"]["output"] = renamed
    return changed


def _edges() -> Iterator[Draft]:
    asked = {**_asked("When are street lamps lit?"), "stream": False}
    items = [*summarised(THINKING, DUSK[1:], encrypted=True), *message(TEXT, DUSK_TEXT)]
    whole = _answer(asked).object("completed", closed(items), usage=counted((12, 27, 19)))
    body = compact(whole).encode()
    yield drafted("openai/body", asked, [body], content_type=JSON_BODY, sizes=(100, 7))

    asked = _asked("夕焼けはなぜ赤いのですか。🌇")
    thought = "光は長い距離を進むと青が散ってしまう🌍から、赤だけが目に届くのだと説明しよう。"
    items = [*summarised(THINKING, [thought]), *message(TEXT, "青が散って、赤が残るからです。🌅")]
    yield drafted(
        "openai/split-characters", asked, _opened(asked, items, (15, 44, 30)), sizes=(61, 1, 2, 190)
    )

    # Taken up again after event 3: the numbering goes on.
    asked = _asked("When are street lamps lit?", background=True)
    items = [*summarised(THINKING, DUSK[1:]), *message(TEXT, DUSK_TEXT)]
    events = _answer(asked).completed(items, (12, 27, 19))
    queued = {"type": "response.queued", "response": {**events[0]["response"], "status": "queued"}}
    resumed = stream([queued, *events[1:]], start=4)
    yield drafted("openai/resumed", asked, resumed, profile="resumed")

    asked = _asked("Tell me a long story.")
    items = message(Item(0, "msg_01"), "Once upon a time there was")
    story = stream([*_answer(asked).opening(), *items[:-3]])
    torn = b'event: response.output_text.delta\ndata: {"type":"respo'
    yield drafted("openai/closed-by-client", asked, [*story, torn], end="client-closed")


def _tool(name: str, parameter: str) -> Fields:
    properties = {parameter: {"type": "string"}}
    return {
        "type": "function",
        "name": name,
        "parameters": {"type": "object", "properties": properties, "required": [parameter]},
    }
