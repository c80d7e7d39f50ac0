"""What a kept file does not show is not missing: rules that owe something from a start on."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance.judging.checker import Checker
from conformance.rules.verdicts import Verdict

INTRODUCED: Final = {"protocolVersion": 1, "agentCapabilities": {}}


def update(kind: str, **more: Any) -> dict[str, Any]:
    params = {"sessionId": "s1", "update": {"sessionUpdate": kind, **more}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


AGENT_ALONE: Final = [
    {"jsonrpc": "2.0", "id": 1, "result": INTRODUCED},
    {"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s1"}},
    update("available_commands_update", availableCommands=[]),
]
PROMPT: Final = {"sessionId": "s1", "prompt": [{"type": "text", "text": "Why?"}]}
ASKED: Final = {"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": PROMPT}
RESULT: Final = {
    "type": "result",
    "subtype": "error_during_execution",
    "is_error": True,
    "num_turns": 0,
    "session_id": "s1",
}
SAID: Final = {
    "type": "assistant",
    "session_id": "s1",
    "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
}
ACP: Final = ("acp", "wire/acp/prompt-answered")
CLAUDE: Final = ("claude.stream-json", "wire/stream-json/init-first")


@pytest.mark.parametrize(
    ("of", "lines", "verdict"),
    [
        (ACP, AGENT_ALONE, Verdict.VACUOUS),
        (ACP, [*AGENT_ALONE, ASKED], Verdict.FAIL),
        (ACP, [*AGENT_ALONE, update("plan", entries=[])], Verdict.FAIL),
        (CLAUDE, [RESULT], Verdict.VACUOUS),
        (CLAUDE, [SAID, RESULT], Verdict.FAIL),
    ],
)
def test_nothing_is_owed_early(of: tuple[str, str], lines: list[Any], verdict: Verdict) -> None:
    dialect, rule = of
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    assert Checker(dialect, "strict").check([body]).verdicts[rule] is verdict
