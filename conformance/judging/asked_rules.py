"""Rules over the two requests of a gateway: the one it receives, and the one it sends upstream.

They are in no YAML file because they compare two requests; `evidence` judges them. Whether a
requested stream was sent shows in the answer: `wire/http/streamed-as-asked`.
"""

from __future__ import annotations

from typing import Final

from conformance.core.errors import Place
from conformance.rules.forms.never import Never
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level


def _asked_rule(
    id_: str, says: str, seen: tuple[str, str], hint: str, level: Level = Level.SHOULD
) -> Rule:
    """A rule `scenario/asked-...`; `seen` is a public report of the harm, with its words."""
    address, quote = seen
    source = ({"spec": address, "quote": quote},)
    place = Place("added by a run")
    return Rule(
        f"scenario/asked-{id_}", level, says, source, "0.1.0", Never(()), {}, place, hint=hint
    )


ASKED_EFFORT: Final = _asked_rule(
    "effort",
    "How hard to think is asked upstream, too, in whatever form that API has for it.",
    (
        "https://github.com/BerriAI/litellm/issues/38084",
        "silently dropped when a request is converted to the Responses API",
    ),
    "A gateway that drops what it does not know of a model has to be taught the model.",
)
ASKED_TOOLS: Final = _asked_rule(
    "tools",
    "Every function that a client offers is offered upstream, with the same required parameters.",
    (
        "https://github.com/RelayPlane/proxy/issues/1",
        "The tools from the incoming request are silently dropped.",
    ),
    "Without them the model cannot call; functions of the gateway may stand beside them.",
    Level.MUST,
)
ASKED_LIMIT: Final = _asked_rule(
    "limit",
    "The limit of an answer is asked upstream, too, and is not raised.",
    (
        "https://github.com/maximhq/bifrost/issues/4354",
        "so the model generates up to its own default limit instead of the requested cap",
    ),
    "A smaller limit is right, and so is room for the budget of thinking beside it.",
)
ASKED_HISTORY: Final = _asked_rule(
    "history",
    "The turns of the user are asked upstream with their texts, none lost and none invented.",
    (
        "https://github.com/yvgude/lean-ctx/issues/1789",
        "only receives the system message; all user and assistant turn contents arrive as",
    ),
    "A gateway may join turns where roles have to alternate.",
)
ASKED_ANSWERS: Final = _asked_rule(
    "answers",
    "What the model said, what it called, and what tools gave it is asked upstream as it was.",
    (
        "https://github.com/yvgude/lean-ctx/issues/1789",
        "only receives the system message; all user and assistant turn contents arrive as",
    ),
    "A history that is written anew loses the model's turns, their calls or the results like this.",
)
ASKED_CHOICE: Final = _asked_rule(
    "choice",
    "A call that a request demands or forbids is demanded or forbidden upstream, too.",
    (
        "https://github.com/openai/openai-openapi",
        "Controls which (if any) tool is called by the model.",
    ),
    "A gateway that drops `tool_choice` leaves the call to chance.",
)
ASKED_SETTINGS: Final = _asked_rule(
    "settings",
    "Stop sequences and temperature are asked upstream as they were.",
    (
        "https://github.com/openai/openai-openapi",
        "Up to 4 sequences where the API will stop generating further tokens.",
    ),
    "A provider that takes none of them is named in the profile, with a reason.",
)
ASKED_SYSTEM_PROMPT: Final = _asked_rule(
    "system-prompt",
    "The instructions of a client go upstream as they were, and no others beside them.",
    (
        "https://github.com/router-for-me/CLIProxyAPI/issues/1994",
        "will have its entire system prompt silently dropped",
    ),
    "A system prompt of the gateway's own makes other answers, and costs tokens in every request.",
)
ASKED_TOOL_TEXTS: Final = _asked_rule(
    "tool-texts",
    "What a tool and its parameters are for, and their types, is asked upstream as it was.",
    (
        "https://github.com/BerriAI/litellm/issues/29854",
        "All description and parameters are silently dropped.",
    ),
    "A model that does not know what a tool is for calls it in the wrong place, or with a guess.",
)
ASKED_SEALED: Final = _asked_rule(
    "sealed",
    "Encrypted thinking that a client asks for is asked upstream, where it has to be asked for.",
    (
        "https://platform.openai.com/docs/api-reference/responses/create",
        "Includes an encrypted version of reasoning tokens in reasoning item outputs.",
    ),
    "Without it a client that stores nothing on the server cannot send the thinking back.",
)
ASKED_RULES: Final = (
    *(ASKED_EFFORT, ASKED_TOOLS, ASKED_LIMIT, ASKED_HISTORY, ASKED_ANSWERS),
    *(ASKED_CHOICE, ASKED_SETTINGS, ASKED_SYSTEM_PROMPT, ASKED_TOOL_TEXTS, ASKED_SEALED),
)
