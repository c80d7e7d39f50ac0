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

_SOURCE: Final = {"advice": "an interface shows what the model said, and nothing else as its words"}

NO_PLACE: Final = "has no place for signatures and for thinking that is sealed"
"""What is said of a protocol in which they cannot stand."""


NO_REASON: Final = "has no word for an answer that was cut at its limit, or by a filter"
"""What is said of a protocol that does not say why a model stopped."""


def _hop_rule(
    id_: str,
    says: str,
    seen: str,
    hint: str,
    level: Level = Level.SHOULD,
    *,
    more: tuple[Mapping[str, str], ...] = (),
) -> Rule:
    """A rule `hop/...`; `seen` says how many of the recorded pairs keep it that show it."""
    place = Place("added by a run, and to recordings of both hops")
    source = (_SOURCE, *more, *(({"observed": f"{seen} recordings of both hops"},) if seen else ()))
    return Rule(f"hop/{id_}", level, says, source, "0.1.0", Never(()), {}, place, hint=hint)


THINKING: Final = _hop_rule(
    "thinking",
    "An application passes thinking on as it is.",
    "112 of 123",
    "A provider package that does not know the field of the thinking drops it.",
)
THINKING_PARTS: Final = _hop_rule(
    "thinking-parts",
    "A block of thinking, and a part of a summary, is one part of what an application sends.",
    "123 of 127",
    "One part for each delta, two blocks in one part, and empty parts that nobody sent look so.",
)
THINKING_APART: Final = _hop_rule(
    "thinking-apart",
    "Thinking and what the model says beside it overlap only where the model's own do.",
    "107 of 113",
    "Ends that are sent only when the answer is over show thinking as long as it is written.",
)
ORDER: Final = _hop_rule(
    "order",
    "An application sends thinking, text and tool calls in the order in which they came.",
    "75 of 75",
    "Whoever buffers one of them and not the others turns them round.",
)
OPAQUE: Final = _hop_rule(
    "opaque",
    "Every signature and all encrypted thinking is sent on, or goes back to the model.",
    "37 of 43",
    "Without them thinking cannot be sent back; a protocol without a place for them loses them.",
)
TEXT: Final = _hop_rule(
    "text",
    "The text that an application shows is the text that the model said.",
    "94 of 108",
    "Markers of inline thinking, diagnostics and error texts are no text of the model.",
    Level.MUST,
)
TOOLS: Final = _hop_rule(
    "tools",
    "An application sends tool calls on with name and arguments.",
    "27 of 31",
    "A call that is sent twice or not at all looks so, too.",
    Level.MUST,
)
RETURNED: Final = _hop_rule(
    "opaque-returned",
    "What the model sealed before it called a tool goes back to it with the result.",
    "12 of 12",
    "An application that keeps its history in other words than the model's loses it.",
)
TALK_KEPT: Final = _hop_rule(
    "talk-kept",
    "The next request to the model has the answer before, its calls as they were, and no thinking "
    "in its text.",
    "",
    "A history of the last message alone, and one that is cut or put together anew, looks so.",
    more=({"breaks": "a model that gets other words than its own answers other questions"},),
)
HIDDEN: Final = _hop_rule(
    "thinking-hidden",
    "An application that states that it hides thinking sends its text in no field.",
    "2 of 2",
    "Metadata, snapshots and an application's own data show it, too.",
    Level.MUST,
)
FAILURE: Final = _hop_rule(
    "failure-no-success",
    "An answer that broke off upstream does not end as a success.",
    "29 of 32",
    "A stream that ends without the provider's terminal event is no whole answer.",
    Level.MUST,
)
FAILURE_TOLD: Final = _hop_rule(
    "failure-told",
    "An answer that broke off ends with an error of the application's protocol.",
    "27 of 30",
    "A body that breaks off gives a user interface nothing that it could show.",
)
ANSWER_WHOLE: Final = _hop_rule(
    "answer-whole",
    "An answer that came whole from the provider does not end in an error.",
    "103 of 110",
    "An application that refuses what its provider sends looks like this.",
)
REASON: Final = _hop_rule(
    "reason-kept",
    "An answer that was cut at a limit, or by a filter, is not sent on as finished.",
    "64 of 64",
    "A finish reason that is written by hand, or taken from another call of the model, looks so.",
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
    "What a try said that was asked again does not stay beside the answer of the next one.",
    "",
    "Whoever streams a call that may be tried again has to take back what was shown of it.",
    more=(
        {"observed": "Gemini CLI 0.61.0 shows an answer 4 times, Mastra 1.71.0 thinking 5 times"},
    ),
)
HOP_RULES: Final = (
    *(TEXT, TOOLS, THINKING, THINKING_PARTS, THINKING_APART, ORDER, OPAQUE, RETURNED),
    *(TALK_KEPT, HIDDEN, FAILURE, FAILURE_TOLD, ANSWER_WHOLE, REASON, TRY_REPLACED),
)
