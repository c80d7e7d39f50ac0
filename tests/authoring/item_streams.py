"""Streams of the Responses API around its items: hosted calls, items cut short, whole bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.authoring.draft import JSON_BODY, Draft
from tests.authoring.pieces import Fields, compact, deltas
from tests.authoring.responses import (
    TEA,
    TEXT,
    THINKING,
    Answer,
    Item,
    call,
    closed,
    content,
    counted,
    custom_call,
    drafted,
    message,
    opened,
    raw_thinking,
    stream,
    summarised,
)

TIDE: Final = "The spring tide comes on Friday."
CITY: Final = '{"city":"Oslo"}'
PATCH: Final = "*** Update File: bog.md\n-Raised bgo\n+Raised bog\n"
CUT_CALL: Final = '{"city":"Os'
LIMIT: Final = {"reason": "max_output_tokens"}
TEXT_FIRST: Final = Item(0, "msg_01")


def drafts() -> Iterator[Draft]:
    yield _hosted_search()
    yield _listed_tools_then_calls()
    yield _custom_call()
    yield _cut_in_call()
    yield _cut_in_summary()
    yield _failed_in_text()
    yield _body_with_call()
    yield _raw_body()
    yield _failed_body()
    yield _without_parts()


def _asked(prompt: str, **more: Any) -> Fields:
    reasoning = {"effort": "low", "summary": "auto"}
    return {"model": "think-1", "input": prompt, "reasoning": reasoning, "stream": True, **more}


def _hosted_search() -> Draft:
    asked = _asked("When is the next spring tide?", tools=[{"type": "web_search"}])
    place = Item(1, "ws_02")
    known = {"type": "web_search_call", "action": {"type": "search", "query": "spring tide"}}
    steps = ("in_progress", "searching", "completed")
    search = [
        place.added(**known, status="in_progress"),
        *({"type": f"response.web_search_call.{step}", **place.part()} for step in steps),
        place.done(**known, status="completed"),
    ]
    items = [
        *summarised(THINKING, ["**Searching**\n\nA table of tides will know."]),
        *search,
        *message(Item(2, "msg_03"), TIDE),
    ]
    return drafted("openai/hosted-search", asked, opened(asked, items, (20, 30, 12)))


def _listed_tools_then_calls() -> Draft:
    """The tools of a server are looked up, and two of them are called at once."""
    asked = _asked("Is it raining in Oslo, and when does the sun set there?")
    place = Item(0, "mcpl_01")
    known = {"type": "mcp_list_tools", "server_label": "weather", "tools": []}
    steps = ("in_progress", "completed")
    items = [
        place.added(**known),
        *({"type": f"response.mcp_list_tools.{step}", **place.part()} for step in steps),
        place.done(**known),
        *summarised(Item(1, "rs_02"), ["**Asking twice**\n\nRain and light are two tools."]),
        *call(Item(2, "fc_03"), "get_weather", CITY, [CITY]),
        *call(Item(3, "fc_04"), "get_sunset", CITY, [CITY]),
    ]
    return drafted("openai/listed-tools-then-calls", asked, opened(asked, items, (32, 40, 15)))


def _custom_call() -> Draft:
    """A tool is called with free text, as the patches of Codex are."""
    asked = _asked("Spell the name of the bog right.")
    items = [
        *summarised(Item(0, "rs_01"), ["**Patching one line**\n\nOnly the title is wrong."]),
        *custom_call(Item(1, "ctc_02"), "apply_patch", PATCH),
    ]
    return drafted("openai/custom-call", asked, opened(asked, items, (32, 40, 15)))


def _cut_in_call() -> Draft:
    """The limit is met inside the arguments of a call, which is closed as incomplete."""
    asked = _asked("Is it raining in Oslo?", max_output_tokens=30)
    items = [
        *summarised(THINKING, ["**Asking the tool**\n\nOnly the weather service knows."]),
        *call(TEXT, "get_weather", CUT_CALL, ['{"city"', ':"Os']),
    ]
    return drafted("openai/incomplete-in-call", asked, _interrupted(asked, items))


def _cut_in_summary() -> Draft:
    """The limit is met inside a summary, whose part says so."""
    asked = _asked("Prove that there is no largest prime.", max_output_tokens=24)
    items = summarised(THINKING, ["**Assuming a largest prime**\n\nLet it be p, and multiply"])
    return drafted("openai/incomplete-in-summary", asked, _interrupted(asked, items))


def _interrupted(asked: Fields, items: list[Fields]) -> Any:
    """The last item is cut at the limit, and so is its part, if parts of it have a state."""
    answer = Answer("resp_00", "think-1", asked)
    items[-1]["item"]["status"] = "incomplete"
    if items[-2]["type"].endswith("summary_part.done"):
        items[-2]["status"] = "incomplete"
    end = answer.closing(
        "incomplete", closed(items), usage=counted((14, 24, 20)), incomplete_details=LIMIT
    )
    return stream([*answer.opening(), *items, end])


def _failed_in_text() -> Draft:
    """The response fails while its message is open; nothing closes that any more."""
    asked = _asked("List every bridge of Venice.")
    answer = Answer("resp_00", "think-1", asked)
    text: Fields = {"type": "output_text", "text": "Rialto, Scalzi", "annotations": []}
    known = {"type": "message", "role": "assistant"}
    items = [
        TEXT_FIRST.added(**known, status="in_progress", content=[]),
        *content(TEXT_FIRST, "output_text", text, deltas(text["text"], 1))[:-2],
    ]
    fault = {"code": "server_error", "message": "The model is overloaded."}
    begun = {"id": TEXT_FIRST.id, **known, "status": "incomplete", "content": []}
    failed = answer.closing("failed", [begun], error=fault)
    return drafted("openai/failed-in-text", asked, stream([*answer.opening(), *items, failed]))


def _body(topic: str, asked: Fields, items: list[Fields], **facts: Any) -> Draft:
    asked = {**asked, "stream": False}
    answer = Answer("resp_00", "think-1", asked)
    whole = answer.object("completed", closed(items), usage=counted((12, 27, 19)))
    return drafted(
        topic, asked, [compact(whole).encode()], content_type=JSON_BODY, sizes=(90, 11), **facts
    )


def _body_with_call() -> Draft:
    asked = _asked("Is it raining in Oslo?", include=["reasoning.encrypted_content"], store=False)
    items = [
        *summarised(THINKING, ["**Asking the tool**\n\nIt knows."], encrypted=True),
        *message(TEXT, "Let me look."),
        *call(Item(2, "fc_03"), "get_weather", '{"city":"Oslo"}'),
    ]
    return _body("openai/body-with-call", asked, items)


def _raw_body() -> Draft:
    asked = _asked("How hot should water for green tea be?")
    return _body(
        "deepseek/raw-body",
        asked,
        [*raw_thinking(THINKING, TEA), *message(TEXT, "About eighty degrees.")],
        profile="deepseek",
    )


def _failed_body() -> Draft:
    asked = {**_asked("Write a poem about toast."), "stream": False}
    fault = {"code": "server_error", "message": "The model is overloaded."}
    whole = Answer("resp_00", "think-1", asked).object("failed", [], error=fault)
    return drafted("openai/failed-body", asked, [compact(whole).encode()], content_type=JSON_BODY)


def _without_parts() -> Draft:
    """Raw thinking in deltas that no content part holds."""
    asked = _asked("How hot should water for green tea be?")
    thinking = raw_thinking(THINKING, TEA)
    items = [
        *(event for event in thinking if "content_part" not in event["type"]),
        *message(TEXT, "About eighty degrees."),
    ]
    events = Answer("resp_00", "think-1", asked).completed(items, (12, 30, 0))
    return drafted(
        "transformers/raw-without-parts",
        asked,
        stream(events, named=False),
        profile="transformers-serve",
    )
