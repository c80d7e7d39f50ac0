"""The client, tested without its server: the answers are recordings."""

from __future__ import annotations

import asyncio

import pytest
from assistant import ask  # type: ignore[import-not-found]  # on the path of this project


def test_thinking_is_kept_apart(conformance_server: str) -> None:
    answer = asyncio.run(ask(conformance_server, "How many days are two weeks?"))
    assert answer.thinking.startswith("Seven days")
    assert answer.text == "Fourteen days."


@pytest.mark.conformance(chunking="bytes:3")
def test_cuts_do_not_matter(conformance_server: str) -> None:
    answer = asyncio.run(ask(conformance_server, "How many days are two weeks?"))
    assert answer.text == "Fourteen days."
