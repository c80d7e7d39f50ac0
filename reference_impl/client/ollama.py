"""Both native APIs of Ollama: lines of JSON, or one whole answer, which looks the same.

Rule 1: inside one line thinking comes first, then text, then calls, which come whole.
Rule 2: the line that says `done` finishes, counts and is the end; an error line is none.

In requests thinking goes back in `thinking` of its own message.
A completion goes on from the `context` that the answer before it gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import effort
from .ask import Ask
from .frame import Frame
from .markers import Splitter
from .payload import arguments_text, object_of, objects_of, present, text_of
from .speech import Call
from .turn import Called, HistoryForm, Results, Turn
from .wire import AnswerReader, Reading


class OllamaReader(AnswerReader):
    """Reads one answer of the chat, whose lines have a `message`."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._splitter = Splitter(reading.markers, opened=reading.opened_by_prompt)
        self._calls = 0
        self._context: Any = None
        self._is_whole = False

    def _read_event(self, _: Frame, event: dict[str, Any]) -> None:
        self._read_line(event)

    def _read_body(self, payload: dict[str, Any]) -> None:
        self._is_whole = True
        self._read_line(payload)

    def echo(self) -> Mapping[str, Any]:
        """The context of a completion: the conversation so far."""
        return {"context": self._context} if isinstance(self._context, list) else {}

    def _message_of(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return object_of(line.get("message"))

    def _read_line(self, line: Mapping[str, Any]) -> None:
        message = self._message_of(line)
        thought, text = text_of(message.get("thinking")), text_of(message.get("content"))
        calls = objects_of(message.get("tool_calls"))
        if thought or text or calls or text_of(message.get("role")):
            self._speech.begin(text_of(message.get("role")))
        if thought:
            self._speech.speak(self._splitter.flush())
            self._speech.think(thought)
        self._speech.speak(self._splitter.feed(text))
        for call in calls:
            self._read_call(call)
        if line.get("done") is True:
            self._close_open()
            self._context = line.get("context")
            self._report.finish(line.get("done_reason"))
            given, written = line.get("prompt_eval_count"), line.get("eval_count")
            self._report.tokens(input=given, output=written)
            self._done(explicit=True)
        if line.get("error"):
            self._close_open()
            self._report.error(line["error"])

    def _close_open(self) -> None:
        self._speech.speak(self._splitter.flush())
        self._speech.pause()

    def _has_ended(self) -> bool:
        return self._is_whole

    def _read_call(self, given: Mapping[str, Any]) -> None:
        self._close_open()
        function = object_of(given.get("function"))
        call = Call(self._report, self._calls)
        self._calls += 1
        call.start(text_of(given.get("id")), text_of(function.get("name")))
        call.add(arguments_text(function.get("arguments")))
        call.end()


class CompletionReader(OllamaReader):
    """Reads one completion, whose lines have a `response`."""

    def _message_of(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return {**line, "content": line.get("response")}


def ollama_request(ask: Ask) -> dict[str, Any]:
    """The JSON of a chat request."""
    tools = present(tools=list(map(dict, ask.tools)))
    return {**_common_fields(ask), "messages": list(_messages_of_ask(ask)), **tools}


def completion_request(ask: Ask) -> dict[str, Any]:
    """The JSON of a completion request: the last thing that was said, and the context before."""
    spoken = [turn for turn in ask.turns if turn.role != "system"]
    made = {**_common_fields(ask), "prompt": spoken[-1].text if spoken else ""}
    contexts = [turn.echo["context"] for turn in spoken if "context" in turn.echo]
    context = {"context": contexts[-1]} if contexts else {}
    return {**made, **context, **present(system=ask.instructions)}


def _common_fields(ask: Ask) -> dict[str, Any]:
    """Return the fields of both APIs; a stream comes unless it is switched off."""
    options = {**ask.sampling, **present(num_predict=ask.max_tokens)}
    return {"model": ask.model, "stream": True, **effort.ollama(ask), **present(options=options)}


def _messages_of_ask(ask: Ask) -> Iterator[dict[str, Any]]:
    results = Results()
    for turn in ask.turns:
        if turn.role == "tool":
            call = results.called(turn)
            named = present(tool_call_id=call.known_id)
            yield {"role": "tool", "tool_name": call.name, "content": turn.text, **named}
        elif turn.role == "assistant":
            results.expect(turn)
            yield _message_of_answer(turn, sends=ask.sends_thinking("ollama"))
        else:
            yield {"role": turn.role, "content": turn.text}


def _message_of_answer(turn: Turn, *, sends: bool) -> dict[str, Any]:
    thinking = turn.thinking if sends else ""
    calls = [_call_to_model(call) for call in turn.calls]
    message = present(thinking=thinking, tool_calls=calls)
    return {"role": "assistant", "content": turn.text, **message}


def _call_to_model(call: Called) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.values}
    return {**present(id=call.known_id), "function": function}


COMPLETION_HISTORY: Final = HistoryForm(
    is_answer=lambda entry: "response" in entry,
    body=lambda entries: dict(entries[-1]),
    given=lambda _: None,
)
