"""Rules that no YAML file states: a run adds them, and judges them by what it knows beforehand.

`scenario/...` stand here, those over the requests of a gateway in `asked_rules`, over what
a request demands in `demand_rules` and `wish_rules`, `hop/...`, of an
application, in `hop_rules`, and `harness/...`, of a client under test, in `harness`.
"""

from __future__ import annotations

from typing import Final

from conformance.core.errors import Place
from conformance.judging import harness
from conformance.judging.asked_rules import ASKED_RULES
from conformance.judging.demand_rules import DEMAND_RULES
from conformance.judging.hop_rules import HOP_RULES
from conformance.judging.wish_rules import WISH_RULES
from conformance.rules.forms.never import Never
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level


def _scenario_rule(id_: str, says: str, hint: str, level: Level = Level.MUST) -> Rule:
    """A rule `scenario/...`; its authority is the scenario that a run took."""
    source = ({"advice": "a scenario states what each of its steps must come to"},)
    place = Place("added by a run")
    return Rule(f"scenario/{id_}", level, says, source, "0.1.0", Never(()), {}, place, hint=hint)


ENDING: Final = _scenario_rule(
    "ending",
    "The answer ends as the scenario expects.",
    "--without CAPABILITY leaves out what the target is not made for.",
)
THINKING: Final = _scenario_rule(
    "thinking",
    "Thinking shows where the scenario asks for it, and only there.",
    "A server that hides all thinking is run with --without thinking.",
)
HOP_TEXT: Final = _scenario_rule(
    "hop-text",
    "A gateway passes visible text on as it is.",
    "White space at the edges, and characters of several bytes, are lost like this.",
)
HOP_THINKING: Final = _scenario_rule(
    "hop-thinking",
    "A gateway passes thinking on as it is.",
    "A gateway that hides thinking is run with --without thinking.",
    Level.SHOULD,
)
HOP_SUMMARY: Final = _scenario_rule(
    "hop-summary",
    "A summary that a gateway shows came from upstream.",
    "It is the text of the call for it, or the thinking or summary of the answer.",
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
    "A gateway passes tool calls on with name and arguments, each by itself.",
    "Ids may be the gateway's own, one for each call.",
)
HOP_ORDER: Final = _scenario_rule(
    "hop-order",
    "A gateway streams thinking, text and tool calls in the order in which they came.",
    "Whoever buffers one of them and not the others turns them round.",
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
    "A gateway asks upstream as often as the request needs.",
    "A summary costs one call more where the gateway asks for it; no summary costs none.",
    Level.SHOULD,
)
CROSS_TALK: Final = _scenario_rule(
    "cross-talk",
    "An answer holds nothing of the answer to another request.",
    "Buffers or slots that are shared between requests look like this.",
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
