"""Rules over both hops of an application: the model's answer, and what the interface gets of it.

They are in no YAML file because they compare several answers; `evidence` judges them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.core.errors import Place
from conformance.rules.forms.never import Never
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level

_SOURCE: Final = {"advice": "an interface shows the model's text, and nothing else as that text"}

NO_PLACE: Final = "has no place for signatures and encrypted thinking"
"""The reason for a protocol that has no place for them."""


NO_REASON: Final = "has no word for an answer that was cut at its limit, or by a filter"
"""The reason for a protocol that does not state why a model stopped."""


def _hop_rule(
    id_: str,
    says: str,
    count: str,
    hint: str,
    level: Level = Level.SHOULD,
    *,
    more: tuple[Mapping[str, str], ...] = (),
) -> Rule:
    """A rule `hop/...`; `count` says how many of the recorded pairs keep it that show it."""
    place = Place("added by a run, and to recordings of both hops")
    source = (
        _SOURCE,
        *more,
        *(({"observed": f"{count} recordings of both hops"},) if count else ()),
    )
    return Rule(f"hop/{id_}", level, says, source, "0.1.0", Never(()), {}, place, hint=hint)


THINKING: Final = _hop_rule(
    "thinking",
    "An application passes thinking on unchanged.",
    "112 of 123",
    "Typical of a provider package that does not know the field in which the thinking comes.",
)
THINKING_PARTS: Final = _hop_rule(
    "thinking-parts",
    "An application sends each block of thinking, and each part of a summary, as one part.",
    "123 of 127",
    "Typical of one part per delta, of two blocks in one part, or of empty parts that were added.",
)
THINKING_APART: Final = _hop_rule(
    "thinking-apart",
    "Thinking overlaps text or calls only where it does in the model's stream.",
    "107 of 113",
    "Typical of ends that are sent only when the answer is over: the interface"
    " shows thinking until then.",
)
ORDER: Final = _hop_rule(
    "order",
    "An application sends thinking, text and tool calls in the order in which they came.",
    "75 of 75",
    "Typical of buffering one of them and not the others.",
)
OPAQUE: Final = _hop_rule(
    "opaque",
    "An application sends every signature and all encrypted thinking on, or back to the model.",
    "37 of 43",
    "Without them thinking cannot be sent back; a protocol without a place for them loses them.",
)
TEXT: Final = _hop_rule(
    "text",
    "An application shows the model's text, and nothing else as that text.",
    "94 of 108",
    "Thinking markers, diagnostics and error messages are not the model's text.",
    Level.MUST,
)
TOOLS: Final = _hop_rule(
    "tools",
    "An application passes tool calls on with name and arguments.",
    "27 of 31",
    "Also typical of a call that is sent twice or not at all.",
    Level.MUST,
)
RETURNED: Final = _hop_rule(
    "opaque-returned",
    "Signatures and encrypted thinking before a tool call go back to the model with the result.",
    "12 of 12",
    "Typical of an application whose history has no place for them.",
)
TALK_KEPT: Final = _hop_rule(
    "talk-kept",
    "The next request to the model holds the answer before and its calls unchanged,"
    " and no thinking in its text.",
    "",
    "Typical of a history with only the last message, or of one that is cut or rebuilt.",
    more=({"breaks": "a model that reads a changed history answers another question"},),
)
HIDDEN: Final = _hop_rule(
    "thinking-hidden",
    "An application that claims to hide thinking sends its text in no field.",
    "2 of 2",
    "Thinking often leaks through metadata, snapshots and data of the application's own.",
    Level.MUST,
)
FAILURE: Final = _hop_rule(
    "failure-no-success",
    "An answer that broke off upstream does not end as a success.",
    "29 of 32",
    "A stream without the provider's terminal event is incomplete.",
    Level.MUST,
)
FAILURE_TOLD: Final = _hop_rule(
    "failure-told",
    "An answer that broke off ends with an error of the application's protocol.",
    "27 of 30",
    "A user interface can show nothing for a body that breaks off.",
)
ANSWER_WHOLE: Final = _hop_rule(
    "answer-whole",
    "A complete answer of the provider does not end in an error.",
    "103 of 110",
    "Typical of an application that rejects something in its provider's stream.",
)
REASON: Final = _hop_rule(
    "reason-kept",
    "An answer that a limit or a filter cut is not reported as finished.",
    "64 of 64",
    "Typical of a finish reason that is hard-coded, or taken from another call of the model.",
    Level.MUST,
    more=(
        {
            "spec": "https://agentclientprotocol.com/protocol/prompt-turn",
            "quote": "When an Agent stops a turn, it must specify the corresponding `StopReason`",
        },
    ),
)
TRY_REPLACED: Final = _hop_rule(
    "try-replaced",
    "The output of a failed try does not stay when its retry succeeds.",
    "",
    "An application that streams a call and retries it has to withdraw what it has shown.",
    more=(
        {"observed": "Gemini CLI 0.61.0 shows an answer 4 times, Mastra 1.71.0 thinking 5 times"},
    ),
)
HOP_RULES: Final = (
    *(TEXT, TOOLS, THINKING, THINKING_PARTS, THINKING_APART, ORDER, OPAQUE, RETURNED),
    *(TALK_KEPT, HIDDEN, FAILURE, FAILURE_TOLD, ANSWER_WHOLE, REASON, TRY_REPLACED),
)
