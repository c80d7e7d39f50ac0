"""The client, tested without its server: the answers are recordings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from assistant import (  # type: ignore[import-not-found]  # on the path of this project
    Answer,
    ask,
    chat,
    messages,
)


def answer(model: Callable[..., Any], base_url: str, transport: Any = None) -> Answer:
    async def go() -> Answer:
        async with httpx2.AsyncClient(transport=transport) as client:
            return await ask(model(base_url, client), "How many days are two weeks?")

    return asyncio.run(go())


def test_thinking_is_kept_apart(conformance_server: str) -> None:
    seen = answer(chat, conformance_server)
    assert seen.thinking.startswith("Seven days")
    assert seen.text == "Fourteen days."


@pytest.mark.conformance(chunking="bytes:3")
def test_cuts_do_not_matter(conformance_server: str) -> None:
    assert answer(chat, conformance_server).text == "Fourteen days."


def test_messages_need_no_port(conformance_transport: Any) -> None:
    seen = answer(messages, "http://sample", conformance_transport)
    assert seen.thinking == "Seven days make a week, two weeks are fourteen."
    assert seen.text == "Fourteen days."
