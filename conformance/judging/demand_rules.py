"""Rules over an answer and what its own request demands, or the request that it carries on.

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
    "An answer that is asked for as a whole body does not come as a stream.",
    (
        "https://github.com/openai/openai-openapi",
        "If set to true, the model response data will be streamed to the client as it is generated",
    ),
    "openai-python 3.57 and anthropic-python 2.14 give such a stream back as one text.",
    Level.MUST,
)
LIMIT_USED: Final = demand_rule(
    "limit-used",
    "An answer that was cut at its limit has used what the request allowed.",
    (
        "https://github.com/openai/openai-openapi",
        "if the maximum number of tokens specified in the request was reached",
    ),
    "A server that halves the limit, or counts something else against it, looks like this.",
)
HISTORY_COUNTED: Final = demand_rule(
    "history-counted",
    "A request that carries on another one counts more input than that one.",
    (
        "https://github.com/yvgude/lean-ctx/issues/1789",
        "only receives the system message; all user and assistant turn contents arrive as",
    ),
    "A server that gives its model only the last message looks like this.",
)
REFUSAL_SAYS_WHY: Final = demand_rule(
    "refusal-says-why",
    "A refusal says why, where the API has its place for it.",
    (
        "https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
        "the server SHOULD send a representation containing an explanation of the error situation",
    ),
    "Pages of a web server, empty bodies and errors of another API are read by no client.",
)
FAULT_KEPT: Final = demand_rule(
    "fault-kept",
    "What the provider refuses a gateway refuses, too; where the provider fails, it does not.",
    (
        "https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
        "indicates situations in which the client seems to have erred",
    ),
    "A client sends a failed request again, and a refused one never.",
)
DEMAND_RULES: Final = (*(BODY_AS_ASKED, LIMIT_USED, HISTORY_COUNTED, REFUSAL_SAYS_WHY, FAULT_KEPT),)
