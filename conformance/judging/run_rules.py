"""Rules that no YAML file states: a run adds them, and judges them by what it knows beforehand.

`scenario/...` are here, those over the requests of a gateway in `passed_request_rules`, over what
a request demands in `demand_rules` and `wish_rules`, `hop/...`, of an
application, in `hop_rules`, and `harness/...`, of a client under test, in `harness`.
"""

from __future__ import annotations

from typing import Final

from conformance.core.errors import Place
from conformance.judging import harness
from conformance.judging.demand_rules import DEMAND_RULES
from conformance.judging.hop_rules import HOP_RULES
from conformance.judging.passed_request_rules import ASKED_RULES
from conformance.judging.wish_rules import WISH_RULES
from conformance.rules.forms.never import Never
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level


def _scenario_rule(id_: str, says: str, hint: str, level: Level = Level.MUST) -> Rule:
    """A rule `scenario/...`; its authority is the scenario that a run took."""
    source = ({"advice": "a scenario states how each of its steps must end"},)
    place = Place("added by a run")
    return Rule(f"scenario/{id_}", level, says, source, "0.1.0", Never(()), {}, place, hint=hint)


ENDING: Final = _scenario_rule(
    "ending",
    "The answer ends as the scenario expects.",
    "Leave out what the target does not support with --without CAPABILITY.",
)
THINKING: Final = _scenario_rule(
    "thinking",
    "An answer shows thinking where the scenario asks for it, and only there.",
    "For a server that hides all thinking use --without thinking.",
)
HOP_TEXT: Final = _scenario_rule(
    "hop-text",
    "A gateway passes visible text on unchanged.",
    "Typical of lost white space at the edges of chunks, or of split multi-byte characters.",
)
HOP_THINKING: Final = _scenario_rule(
    "hop-thinking",
    "A gateway passes thinking on unchanged.",
    "For a gateway that hides thinking use --without thinking.",
    Level.SHOULD,
)
HOP_SUMMARY: Final = _scenario_rule(
    "hop-summary",
    "A summary that a gateway shows came from upstream.",
    "It may be the text of an own call for it, or thinking or a summary of the answer.",
    Level.SHOULD,
)
HOP_OPAQUE: Final = _scenario_rule(
    "hop-opaque",
    "A gateway loses no signature and no encrypted thinking where both sides speak one API.",
    "Without them thinking cannot be sent back; the seal may be the gateway's own.",
    Level.SHOULD,
)
HOP_TOOLS: Final = _scenario_rule(
    "hop-tools",
    "A gateway passes tool calls on with name and arguments, none joined or split.",
    "Ids may be the gateway's own, one for each call.",
)
HOP_ORDER: Final = _scenario_rule(
    "hop-order",
    "A gateway streams thinking, text and tool calls in the order in which they came.",
    "Typical of buffering one of them and not the others.",
    Level.SHOULD,
)
HOP_USAGE: Final = _scenario_rule(
    "hop-usage",
    "The usage of a gateway is the sum of what it used upstream.",
    "Every call counts, also the one for a summary.",
    Level.SHOULD,
)
HOP_CALLS: Final = _scenario_rule(
    "hop-calls",
    "A gateway sends no more upstream requests than the request needs.",
    "A summary may cost one more request; without a summary there is none.",
    Level.SHOULD,
)
CROSS_TALK: Final = _scenario_rule(
    "cross-talk",
    "An answer holds nothing of the answer to another request.",
    "Typical of buffers or slots that requests share.",
)
ANSWER_SAID: Final = "thinking/answer/said"
"""The rule of a suite that binds where a scenario expects an answer."""
SCENARIO_RULES: Final = (
    *(ENDING, THINKING, HOP_TEXT, HOP_THINKING, HOP_SUMMARY, HOP_OPAQUE),
    *(HOP_TOOLS, HOP_ORDER, HOP_USAGE, HOP_CALLS, *ASKED_RULES, *DEMAND_RULES),
    *(*WISH_RULES, CROSS_TALK),
)

ADDED_RULES: Final = {rule.id: rule for rule in (*SCENARIO_RULES, *HOP_RULES, *harness.RULES)}
"""Every rule that a run may add, by its id: to explain, list and choose like any other."""
