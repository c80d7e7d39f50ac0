"""Streams of the Messages API that keep the rules, in the shapes of real servers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from tests.authoring.draft import JSON_BODY, Draft, stream_draft
from tests.authoring.messages import (
    MODEL,
    answer,
    counted,
    message,
    opening,
    redacted,
    signature_of,
    start,
    stop,
    stream,
    text,
    thinking,
    tool,
)
from tests.authoring.pieces import Fields, characters, compact

DIALECT: Final = "anthropic.messages"

BREAD: Final = "The dough has to rise twice, so the loaf takes about four hours in all."
BREAD_TEXT: Final = "Plan for four hours, most of them waiting."
TIDE: Final = "Only the tide table knows when the water is low, so the tool has to be asked."

drafted = partial(stream_draft, dialect=DIALECT, path="/v1/messages")


def drafts() -> Iterator[Draft]:
    yield from _thinking()
    yield from _tools()
    yield from _ends()
    yield from _emulators()


def _asked(prompt: str, **more: Any) -> Fields:
    return {
        "model": MODEL,
        "max_tokens": 2048,
        "messages": [{"role": "user", "content": prompt}],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "stream": True,
        **more,
    }


def _thinking() -> Iterator[Draft]:
    asked = _asked("How long does a loaf of bread take?")
    blocks = [thinking(0, BREAD), text(1, BREAD_TEXT)]
    yield drafted("anthropic/thinking-then-text", asked, answer(blocks, (15, 44, 27)))

    asked = _asked("A riddle: what has a bed but never sleeps?")
    blocks = [redacted(0), redacted(1), text(2, "A river.")]
    yield drafted("anthropic/redacted", asked, answer(blocks, (16, 21, 14)))

    omitted = {"type": "adaptive", "display": "omitted"}
    asked = _asked("What is nineteen times three?", thinking=omitted)
    blocks = [thinking(0, ""), text(1, "Nineteen times three is fifty-seven.")]
    yield drafted("anthropic/display-omitted", asked, answer(blocks, (12, 61, 49)))

    asked = _asked("Name a bird that cannot fly, in Japanese.")
    bird = "ペンギンは飛べない鳥です。"
    blocks = [
        text(0, "\n\n", ["\n\n"]),
        thinking(1, "A penguin is the best known of them."),
        text(2, bird, characters(bird)),
    ]
    pieces = answer(blocks, (13, 35, None))
    facts: Fields = {"profile": "anthropic", "sizes": (61, 7, 190)}
    yield drafted("anthropic/text-before-thinking", asked, pieces, **facts)

    yield from _switched()


def _switched() -> Iterator[Draft]:
    """What a request may say of thinking."""
    asked = _asked("How long does a loaf of bread take?", output_config={"effort": "high"})
    blocks = [thinking(0, BREAD), text(1, BREAD_TEXT)]
    yield drafted("anthropic/effort-named", asked, answer(blocks, (15, 44, 27)))

    asked = _asked("How long does a loaf of bread take?", thinking={"type": "disabled"})
    pieces = answer([text(0, BREAD_TEXT)], (15, 17, 0))
    yield drafted("anthropic/thinking-off", asked, pieces)

    budget = {"type": "enabled", "budget_tokens": 1024}
    more = {"tools": [_tool("get_tide", "port")], "tool_choice": {"type": "auto"}}
    asked = _asked("When is low tide in Brest?", thinking=budget, **more)
    blocks = [thinking(0, TIDE), tool(1, "get_tide", ["", '{"port": "Brest"}'])]
    yield drafted("anthropic/budget-and-tools", asked, answer(blocks, (300, 50, 20), "tool_use"))

    asked = _asked("How long does a loaf of bread take?")
    blocks = [thinking(0, BREAD), text(1, BREAD_TEXT)]
    pieces = answer(blocks, (15, 44, 27))
    yield drafted("reference/thinking-counted", asked, pieces, profile="reference")


def _tools() -> Iterator[Draft]:
    asked = _asked("When is low tide in Brest and in Vigo?", tools=[_tool("get_tide", "port")])
    direct: Fields = {"caller": {"type": "direct"}}
    blocks = [
        thinking(0, TIDE),
        text(1, "Let me look that up."),
        tool(2, "get_tide", ["", '{"po', 'rt": "Br', 'est"}'], **direct),
        tool(3, "get_tide", ["", '{"port": "Vigo"}'], **direct),
    ]
    yield drafted("anthropic/thinking-then-tools", asked, answer(blocks, (310, 96, 20), "tool_use"))

    asked = _asked("Which lighthouse is the oldest?", tools=[SEARCH])
    page = {"type": "web_search_result", "title": "Lighthouses", "url": "https://example.org"}
    found = [{**page, "encrypted_content": "RXF4ZW1wbGFy", "page_age": None}]
    result = start(2, "web_search_tool_result", tool_use_id="toolu_1", content=found)
    blocks = [
        thinking(0, "I had better look this up."),
        tool(1, "web_search", ['{"query": "oldest', ' lighthouse"}'], "server_tool_use"),
        [result, stop(2)],
        thinking(3, "The Tower of Hercules is named there."),
        text(4, "The Tower of Hercules in Spain."),
        thinking(5, "The port should be asked for its opening hours."),
        tool(6, "get_hours", []),
    ]
    pieces = answer(blocks, (420, 150, 61), "tool_use")
    yield drafted("anthropic/interleaved-thinking", asked, pieces, profile="anthropic")


SEARCH: Final = {"type": "web_search_20250305", "name": "web_search"}


def _tool(name: str, argument: str) -> Fields:
    schema = {"type": "object", "properties": {argument: {"type": "string"}}}
    return {"name": name, "input_schema": schema}


def _ends() -> Iterator[Draft]:
    asked = _asked("List every prime number.", max_tokens=1024)
    blocks = [thinking(0, "There is no end to them, so I list a few."), text(1, "2, 3, 5, 7,")]
    yield drafted("anthropic/max-tokens", asked, answer(blocks, (10, 24, 12), "max_tokens"))

    overloaded = {"type": "overloaded_error", "message": "Overloaded"}
    broken = [
        opening(15),
        *thinking(0, BREAD),
        *text(1, BREAD_TEXT)[:3],
        {"type": "error", "error": overloaded},
    ]
    asked = _asked("How long does a loaf of bread take?")
    yield drafted("anthropic/error-in-text", asked, stream(broken))

    asked = _asked("How long does a loaf of bread take?", stream=False)
    content = [
        {"type": "thinking", "thinking": BREAD, "signature": signature_of(0)},
        {"type": "text", "text": BREAD_TEXT},
    ]
    body = message(content=content, stop_reason="end_turn", usage=counted((15, 44, 27)))
    pieces = (compact(body).encode(),)
    yield drafted("anthropic/body", asked, pieces, content_type=JSON_BODY)


def _emulators() -> Iterator[Draft]:
    asked = _asked("How long does a loaf of bread take?", thinking={"type": "enabled"})
    blocks = [thinking(0, BREAD, signed=False), text(1, BREAD_TEXT)]
    pieces = answer(blocks, (15, 44, None), pings=False)
    yield drafted("ollama/thinking-unsigned", asked, pieces, profile="ollama-messages")
