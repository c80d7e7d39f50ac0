"""Dialect `huggingface.tgi`: tokens of Text Generation Inference, and whole answers.

Rule 1: an event with a token is `tgi.token`, or `tgi.last` where it has the whole text; a body is
        `tgi.body`, an error of any form `tgi.error`.
Rule 2: special tokens are no text, and neither is the whole text: `tgi.last` says whether it ends
        with what the tokens said (`agrees`), for the prompt may stand before it where it may
        have been asked for.
Rule 3: thinking stands in the text, between the markers that the profile names.
Rule 4: the last event is the end. Its details, which have to be asked for, say why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Event, Frame, Request
from conformance.dialects import outcome
from conformance.dialects.generated_text import GeneratedText, GeneratedTextReader, first_answer
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import event_data, mapping, string, whole_counts
from conformance.dialects.wire_keys import AnswerBounds, WireKeys

NAME: Final = "huggingface.tgi"
PIECE: Final = "tgi.token"
LAST: Final = "tgi.last"
BODY: Final = "tgi.body"
ERROR: Final = "tgi.error"
UNKNOWN: Final = "tgi.unknown"
VOCABULARY: Final = vocabulary(NAME, PIECE, LAST, BODY, ERROR, UNKNOWN)
BOUNDS: Final = AnswerBounds(first=frozenset({PIECE}), last=frozenset({LAST}))
WIRE_KEYS: Final = WireKeys(
    texts=("text", "generated_text"), shown=("text", "generated_text"), words=("finish_reason",)
)
REASONS: Final = {"length": "length", "eos_token": "stop", "stop_sequence": "stop"}
_COUNTS: Final = {"input": "input_length", "output": "generated_tokens"}


class TokenReader(GeneratedTextReader):
    unknown = UNKNOWN
    history = "inputs"
    _is_alone = False  # no prompt stands before the whole text, by what was asked

    def request(self, request: Request) -> list[Event]:
        # The other path, `/`, has a default that depends on the model.
        parameters = mapping(mapping(request.json).get("parameters"))
        is_asked = parameters.get("return_full_text") is True
        self._is_alone = request.path.endswith("/generate_stream") and not is_asked
        return super().request(request)

    def _new_content(self) -> GeneratedText:
        self._pieces: list[str] = []
        return super()._new_content()

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        if "error" in fields:
            self._fail(fields)
        elif "token" not in fields:
            self._sink.wire(UNKNOWN, event_data(payload))
        else:
            self._announce("", has_spoken=False)
            self._say_token(fields)

    def _say_token(self, fields: dict[str, Any]) -> None:
        token = mapping(fields["token"])
        text = "" if token.get("special") is True else string(token.get("text"))
        self._pieces.append(text)
        whole = fields.get("generated_text")
        if not isinstance(whole, str):
            self._sink.wire(PIECE, fields)
            self._add_text(text, is_whole=False)
            return
        streamed = "".join(self._pieces).lstrip()
        agrees = whole.endswith(streamed)
        if self._is_alone and whole.removesuffix(streamed).strip():
            agrees = False
        self._sink.wire(LAST, {**fields, "agrees": agrees})
        self._add_text(text, is_whole=True)
        self._finish(mapping(fields.get("details")))
        self._say_done()

    def _read_body(self, payload: Any) -> None:
        fields = first_answer(payload)
        self._is_whole = True
        if "error" in fields:
            self._fail(fields)
        elif not isinstance(fields.get("generated_text"), str):
            self._sink.wire(UNKNOWN, event_data(payload))
        else:
            self._sink.wire(BODY, fields)
            self._add_text(fields["generated_text"], is_whole=True)
            self._finish(mapping(fields.get("details")))

    def _finish(self, details: Mapping[str, Any]) -> None:
        self._content.close()
        if reason := string(details.get("finish_reason")):
            self._say_reason(REASONS.get(reason, reason))
        self._sink.say_usage(whole_counts(details, _COUNTS))

    def _fail(self, fields: dict[str, Any]) -> None:
        self._sink.wire(ERROR, fields)
        self._content.close()
        error = outcome.error(fields["error"])
        self._sink.say_error({**error, "code": error["code"] or string(fields.get("error_type"))})


def recognises(_frame: Frame, payload: Any) -> bool:
    """A token next to the key of the whole text, or a whole answer with its details."""
    fields = first_answer(payload)
    if "token" in fields:
        is_token = isinstance(mapping(fields["token"]).get("text"), str)
        return is_token and "generated_text" in fields
    details = mapping(fields.get("details"))
    return isinstance(fields.get("generated_text"), str) and "generated_tokens" in details
