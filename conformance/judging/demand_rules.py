"""Rules over an answer and what its own request demands, or the request that it continues.

They are in no YAML file because each holds in every dialect; `evidence.demands` judges them.
"""

from __future__ import annotations

from typing import Final

from conformance.core.errors import Place
from conformance.rules.forms.never import Never
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level


def demand_rule(
    id_: str, says: str, source: tuple[str, str], hint: str, level: Level = Level.SHOULD
) -> Rule:
    """A rule `scenario/...`; `source` is an address with its words."""
    address, quote = source
    stated = ({"spec": address, "quote": quote},)
    place = Place("added by a run")
    return Rule(f"scenario/{id_}", level, says, stated, "0.1.0", Never(()), {}, place, hint=hint)


BODY_AS_ASKED: Final = demand_rule(
    "body-as-asked",
    "A request for a whole body is not answered by a stream.",
    (
        "https://github.com/openai/openai-openapi",
        "If set to true, the model response data will be streamed to the client as it is generated",
    ),
    "openai-python 3.57 and anthropic-python 2.14 return such a stream as one text.",
    Level.MUST,
)
LIMIT_USED: Final = demand_rule(
    "limit-used",
    "An answer that ended at its limit used the tokens that the request allowed.",
    (
        "https://github.com/openai/openai-openapi",
        "if the maximum number of tokens specified in the request was reached",
    ),
    "Typical of a server that halves the limit, or counts something else against it.",
)
HISTORY_COUNTED: Final = demand_rule(
    "history-counted",
    "A request that continues another one counts more input tokens than that one.",
    (
        "https://github.com/yvgude/lean-ctx/issues/1789",
        "only receives the system message; all user and assistant turn contents arrive as",
    ),
    "Typical of a server that gives its model only the last message.",
)
REFUSAL_SAYS_WHY: Final = demand_rule(
    "refusal-says-why",
    "A refusal says why, in the error field of its API.",
    (
        "https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
        "the server SHOULD send a representation containing an explanation of the error situation",
    ),
    "No client reads HTML pages, empty bodies or errors of another API.",
)
FAULT_KEPT: Final = demand_rule(
    "fault-kept",
    "A gateway reports a refused request as refused (4xx), and a failed one as failed (5xx).",
    (
        "https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
        "indicates situations in which the client seems to have erred",
    ),
    "Clients retry a failed request, and never a refused one.",
)
DEMAND_RULES: Final = (*(BODY_AS_ASKED, LIMIT_USED, HISTORY_COUNTED, REFUSAL_SAYS_WHY, FAULT_KEPT),)
