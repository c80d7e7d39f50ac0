"""Token text of gpt-oss, marker by marker, raw or as the `text` of completions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from tests.authoring.pieces import DONE, Fields, Message, Piece, deltas

MODEL: Final = "think-oss"
PLAIN: Final = "text/plain; charset=utf-8"
SOUP: Final = "Lentils need no soaking,\nso the soup is done within the hour."
SOUP_TEXT: Final = "About forty minutes.\n\nSplit lentils take half of it."
TOOL: Final = "functions.get_timetable"
ARGUMENTS: Final = '{"line": "island"}'


@dataclass(frozen=True, slots=True)
class Token(Message):
    """A marker or some text, as it stands."""

    def encode(self) -> bytes:
        return str(self.payload).encode()


def message(
    channel: str, text: str, *, to: str = "", kind: str = "", end: str = "end"
) -> list[Token]:
    """A message from its channel on; what stands before, the prompt or `further` has said."""
    addressed = f" to={to}" if to else ""
    head = ["<|channel|>", f"{channel}{addressed}", *_kind_tokens(kind), "<|message|>"]
    return [Token(each) for each in (*head, *deltas(text), f"<|{end}|>")]


def _kind_tokens(kind: str) -> list[str]:
    return [" ", "<|constrain|>", kind] if kind else []


def further(*tokens: Token) -> list[Token]:
    """A message behind another one."""
    return [Token("<|start|>"), Token("assistant"), *tokens]


def thought(text: str) -> list[Token]:
    return message("analysis", text)


def final(text: str) -> list[Token]:
    return further(*message("final", text, end="return"))


def called(tool: str, arguments: str) -> list[Token]:
    return further(*message("commentary", arguments, to=tool, kind="json", end="call"))


def joined(tokens: Iterable[Token]) -> str:
    return "".join(str(token.payload) for token in tokens)


def choice(text: str, reason: str | None = None, index: int = 0) -> Fields:
    return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}


def chunk(*choices: Fields, **more: object) -> Message:
    """A chunk of a completion that is streamed."""
    head = {"id": "cmpl-1", "object": "text_completion", "created": 1763632800, "model": MODEL}
    return Message({**head, "choices": list(choices), **more})


def counted(prompt: int, answered: int) -> Fields:
    total = prompt + answered
    return {"prompt_tokens": prompt, "completion_tokens": answered, "total_tokens": total}


def streamed(tokens: Iterable[Token], reason: str, usage: tuple[int, int]) -> list[Message]:
    """The tokens as chunks; servers cut the stop marker off and state a reason."""
    *others, last = [str(token.payload) for token in tokens]
    chunks = [chunk(choice(text)) for text in others]
    end = chunk(choice("" if reason == "stop" else last, reason))
    return [*chunks, end, chunk(usage=counted(*usage)), DONE]


def body(tokens: Iterable[Token], reason: str, usage: tuple[int, int]) -> Fields:
    """The tokens in one piece, without the stop marker."""
    *others, last = [str(token.payload) for token in tokens]
    text = "".join([*others, "" if reason == "stop" else last])
    payload = chunk(choice(text, reason), usage=counted(*usage)).payload
    assert isinstance(payload, dict)
    return payload


def spoken(role: str, text: str) -> str:
    """A message of a prompt."""
    return f"<|start|>{role}<|message|>{text}<|end|>"


def prompt(*messages: str, effort: str = "medium") -> str:
    """A prompt that ends where the assistant's message begins."""
    system = (
        "You are ChatGPT, a large language model trained by OpenAI.\n\n"
        f"Reasoning: {effort}\n\n"
        "# Valid channels: analysis, commentary, final. "
        "Channel must be included for every message."
    )
    return "".join([spoken("system", system), *messages, "<|start|>assistant"])


def called_in_role() -> list[Piece]:
    start, _, *rest = called(TOOL, ARGUMENTS)
    addressed = [
        replace(each, payload=str(each.payload).replace(f" to={TOOL}", "")) for each in rest
    ]
    return [start, replace(start, payload=f"assistant to={TOOL}"), *addressed]


def two_choices() -> list[Piece]:
    first, second = joined(thought(SOUP)), joined(thought("The user means red lentils."))
    answers = [joined(final(text)[:-1]) for text in (SOUP_TEXT, "A quarter of an hour.")]
    return [
        chunk(choice(first)),
        chunk(choice(second, index=1)),
        *(chunk(choice(text, index=n)) for n, text in enumerate(answers)),
        *(chunk(choice("", "stop", n)) for n in range(2)),
        chunk(usage=counted(60, 58)),
        DONE,
    ]
