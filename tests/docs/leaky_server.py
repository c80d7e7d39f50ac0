"""A chat server with one common fault, for pages that judge a server: its text holds `</think>`."""

from __future__ import annotations

from typing import Any

from tests.fakes.chatty import Chatty


class LeakyServer(Chatty):
    """Its model thinks, and the end of the thinking shows in the text."""

    __slots__ = ()

    def _answer_parts(self, body: dict[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
        thinking, text, calls = super()._answer_parts(body)
        return thinking, f"</think>{text}" if thinking and text else text, calls


APP = LeakyServer()
