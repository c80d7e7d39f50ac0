"""Dialect `sglang.generate`: what SGLang's own `/generate` streams, and whole answers.

Rule 1: an event is `sglang.text`, or `sglang.last` where it has a reason to finish; a body is
        `sglang.body`, an error `sglang.error`.
Rule 2: an event has all of the text so far, or, where the server was started that way, only what
        is new; `mode` says which, where it shows: whole where it has as many output ids as tokens
        are counted. Without ids, a text that begins with what was said is whole. One that ought to
        be whole and does not begin so `strays`; it says nothing new.
Rule 3: thinking stands in the text, between the markers that the profile names.
Rule 4: of several answers to one request only the first one, with `index` 0 or none, is followed.
Rule 5: an answer that was aborted has failed. `[DONE]` ends the stream, and says nothing.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Frame
from conformance.dialects import outcome
from conformance.dialects.generated_text import GeneratedText, GeneratedTextReader, first_answer
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import event_data, mapping, string, whole, whole_counts
from conformance.dialects.wire_keys import AnswerBounds, WireKeys

NAME: Final = "sglang.generate"
TEXT: Final = "sglang.text"
LAST: Final = "sglang.last"
BODY: Final = "sglang.body"
ERROR: Final = "sglang.error"
UNKNOWN: Final = "sglang.unknown"
VOCABULARY: Final = vocabulary(NAME, TEXT, LAST, BODY, ERROR, UNKNOWN)
BOUNDS: Final = AnswerBounds(first=frozenset({TEXT}), last=frozenset({LAST}))
WIRE_KEYS: Final = WireKeys(texts=("text",), shown=("text",), free=("meta_info", "output_ids"))
_COUNTS: Final = {
    "input": "prompt_tokens",
    "output": "completion_tokens",
    "reasoning": "reasoning_tokens",
}

Fields = dict[str, Any]


class GrowingTextReader(GeneratedTextReader):
    unknown = UNKNOWN
    history = "text"

    def _new_content(self) -> GeneratedText:
        self._so_far = ""
        return super()._new_content()

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        about = mapping(fields.get("meta_info"))
        if "error" in fields:
            self._sink.wire(ERROR, fields)
            self._content.close()
            self._sink.say_error(outcome.error(fields["error"]))
        elif not about:
            self._sink.wire(UNKNOWN, event_data(payload))
        else:
            if not whole(fields.get("index")):
                self._announce(string(about.get("id")))
            self._say_text(fields, about)

    def _say_text(self, fields: Fields, about: Fields) -> None:
        reason = mapping(about.get("finish_reason"))
        kind = LAST if reason else TEXT
        if whole(fields.get("index")):
            self._sink.wire(kind, fields)
            return
        new, shown = self._new_text(string(fields.get("text")), fields, about)
        self._sink.wire(kind, {"index": 0, **fields, **shown})
        if shown.get("mode") != "piece":  # else nothing is compared with it
            self._so_far += new
        self._add_text(new, is_whole=bool(reason))
        if reason:
            self._finish(reason, about)

    def _new_text(self, text: str, fields: Fields, about: Fields) -> tuple[str, Fields]:
        """What a text adds to the text so far, and how that shows (rule 2)."""
        before = self._so_far
        if not before:
            return text, {}
        ids, count = fields.get("output_ids"), whole(about.get("completion_tokens"))
        is_counted = isinstance(ids, list) and count is not None
        continues = text.startswith(before)
        if len(ids or ()) == count if is_counted else continues:
            return text[len(before) :] if continues else "", {
                "mode": "whole",
                "strays": not continues,
            }
        return text, {"mode": "piece"}

    def _finish(self, reason: Fields, about: Fields) -> None:
        self._content.close()
        kind = string(reason.get("type"))
        counts = whole_counts(about, _COUNTS)
        counts["reasoning"] = counts["reasoning"] or None  # 0 where it is not counted
        self._is_done = True
        if kind == "abort":
            message = string(reason.get("message"))
            self._sink.say_error({"choice": 0, "code": kind, "message": message})
            return
        self._say_reason(kind)
        self._sink.say_usage(counts)
        self._say_done()

    def _read_body(self, payload: Any) -> None:
        fields = first_answer(payload)
        self._is_whole = True
        if "error" in fields or "text" not in fields:
            self._read_event(Frame("body", "", "", "", 0), fields or payload)
            return
        self._sink.wire(BODY, fields)
        self._add_text(string(fields["text"]), is_whole=True)
        about = mapping(fields.get("meta_info"))
        self._finish(mapping(about.get("finish_reason")), about)


def recognises(_frame: Frame, payload: Any) -> bool:
    """A text with the metadata of SGLang; an error alone names no dialect."""
    fields = first_answer(payload)
    about = mapping(fields.get("meta_info"))
    is_text = isinstance(fields.get("text"), str) or "output_ids" in fields
    return is_text and "finish_reason" in about


def finishes(payload: Any) -> bool:
    """Whether the payload states a reason to finish, after which `[DONE]` is due."""
    return bool(mapping(mapping(mapping(payload).get("meta_info")).get("finish_reason")))
