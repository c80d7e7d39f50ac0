"""Rules over the two requests of a gateway: the one it receives, and the one it sends upstream.

They are in no YAML file because they compare two requests; `evidence` judges them. Whether a
requested stream was sent shows in the answer: `wire/http/streamed-as-asked`.
"""

from __future__ import annotations

from typing import Final

from conformance.judging.demand_rules import demand_rule
from conformance.rules.verdicts import Level

ASKED_EFFORT: Final = demand_rule(
    "asked-effort",
    "A gateway passes the effort on, in the form of the upstream API.",
    (
        "https://github.com/BerriAI/litellm/issues/38084",
        "silently dropped when a request is converted to the Responses API",
    ),
    "Typical of a gateway that does not know the model and drops what it is unsure of.",
)
ASKED_TOOLS: Final = demand_rule(
    "asked-tools",
    "A gateway offers every function of the client upstream, with the same required parameters.",
    (
        "https://github.com/RelayPlane/proxy/issues/1",
        "The tools from the incoming request are silently dropped.",
    ),
    "Without them the model cannot call; a gateway may add its own functions.",
    Level.MUST,
)
ASKED_LIMIT: Final = demand_rule(
    "asked-limit",
    "A gateway passes the token limit on, and does not raise it.",
    (
        "https://github.com/maximhq/bifrost/issues/4354",
        "so the model generates up to its own default limit instead of the requested cap",
    ),
    "A smaller limit is right, and so is a limit that adds the thinking budget.",
)
ASKED_HISTORY: Final = demand_rule(
    "asked-history",
    "A gateway passes the user's turns on with their texts, none lost and none invented.",
    (
        "https://github.com/yvgude/lean-ctx/issues/1789",
        "only receives the system message; all user and assistant turn contents arrive as",
    ),
    "A gateway may join turns where roles have to alternate.",
)
ASKED_ANSWERS: Final = demand_rule(
    "asked-answers",
    "A gateway passes the model's earlier texts, its calls and the tool results on unchanged.",
    (
        "https://github.com/yvgude/lean-ctx/issues/1789",
        "only receives the system message; all user and assistant turn contents arrive as",
    ),
    "Typical of a gateway that rebuilds the history and loses turns of the model,"
    " calls or results.",
)
ASKED_CHOICE: Final = demand_rule(
    "asked-choice",
    "A gateway passes on whether a request demands or forbids a tool call.",
    (
        "https://github.com/openai/openai-openapi",
        "Controls which (if any) tool is called by the model.",
    ),
    "A gateway that drops `tool_choice` leaves the call to chance.",
)
ASKED_SETTINGS: Final = demand_rule(
    "asked-settings",
    "A gateway passes stop sequences and temperature on unchanged.",
    (
        "https://github.com/openai/openai-openapi",
        "Up to 4 sequences where the API will stop generating further tokens.",
    ),
    "The profile names a provider that accepts none of them, with a reason.",
)
ASKED_SYSTEM_PROMPT: Final = demand_rule(
    "asked-system-prompt",
    "A gateway passes the client's instructions on unchanged, and adds none.",
    (
        "https://github.com/router-for-me/CLIProxyAPI/issues/1994",
        "will have its entire system prompt silently dropped",
    ),
    "A system prompt of the gateway changes the answers, and costs tokens in every request.",
)
ASKED_TOOL_TEXTS: Final = demand_rule(
    "asked-tool-texts",
    "A gateway passes descriptions and types of tools and parameters on unchanged.",
    (
        "https://github.com/BerriAI/litellm/issues/29854",
        "All description and parameters are silently dropped.",
    ),
    "A model without the description calls a tool in the wrong place, or guesses its arguments.",
)
ASKED_SEALED: Final = demand_rule(
    "asked-sealed",
    "A gateway asks upstream for the encrypted thinking that its client asks for.",
    (
        "https://platform.openai.com/docs/api-reference/responses/create",
        "Includes an encrypted version of reasoning tokens in reasoning item outputs.",
    ),
    "Without it a client that stores nothing on the server cannot send the thinking back.",
)
ASKED_FORMAT: Final = demand_rule(
    "asked-format",
    "A gateway asks upstream for the JSON that its client asks for.",
    (
        "https://github.com/openai/openai-openapi",
        "An object specifying the format that the model must output.",
    ),
    "Without it the model answers in prose, which a program cannot read.",
)
ASKED_RULES: Final = (
    *(ASKED_EFFORT, ASKED_TOOLS, ASKED_LIMIT, ASKED_HISTORY, ASKED_ANSWERS),
    *(ASKED_CHOICE, ASKED_SETTINGS, ASKED_SYSTEM_PROMPT, ASKED_TOOL_TEXTS, ASKED_SEALED),
    ASKED_FORMAT,
)
