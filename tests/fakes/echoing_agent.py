"""An agent that says a key of its environment in every spelling: `... MODE`.

Modes: `updates` says it in all parts of the protocol, `pieces` over many updates, `line` and
`error` in what ends the turn; each on its standard error, too.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Final
from urllib.request import Request, urlopen

from tests.cassette.redaction.test_known_secrets import KEY, SPELLINGS
from tests.cassette.redaction.test_planted_key import pieces, plain

VARIABLE: Final = "PLANTED_API_KEY"
_UPDATE: Final = (
    '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{}}}}}'
)
_TEXT: Final = '{{"sessionUpdate":"{}","content":{{"type":"text","text":"{}"}}}}'
_KINDS: Final = ("agent_message_chunk", "agent_thought_chunk")


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def update(inside: str) -> None:
    write(_UPDATE.format(inside))


def say_whole(spelled: str) -> None:
    for kind in _KINDS:
        update(_TEXT.format(kind, spelled))
    update(f'{{"sessionUpdate":"{spelled}","{spelled}":1}}')
    call = f'"toolCallId":"{spelled}","title":"{spelled}","rawInput":{{"a":"{spelled}"}}'
    update(f'{{"sessionUpdate":"tool_call","status":"pending",{call}}}')


def say_in_pieces(spelled: str) -> None:
    for kind in _KINDS:
        for piece in pieces(spelled):
            update(_TEXT.format(kind, piece))


def ask_model() -> None:
    headers = {"content-type": "application/json"}
    url = f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages"
    message = {"role": "user", "content": "Say it."}
    asked = {"model": "m", "max_tokens": 9, "stream": True, "messages": [message]}
    with urlopen(Request(url, json.dumps(asked).encode(), headers)) as answered:
        answered.read()


def answer(mode: str, number: object) -> None:
    ask_model()
    for spelled in SPELLINGS.values():
        sys.stderr.write(f"{plain(spelled)} {spelled}\n")
        if mode == "line":
            write(f"log: {spelled}")
        elif mode == "pieces":
            say_in_pieces(spelled)
        else:
            say_whole(spelled)
    sys.stderr.flush()
    if mode == "line":
        sys.exit(1)
    text = " ".join(SPELLINGS.values())
    error = f'{{"code":-32000,"message":"{text}","data":"{text}"}}'
    end = f'"error":{error}' if mode == "error" else '"result":{"stopReason":"end_turn"}'
    write(f'{{"jsonrpc":"2.0","id":{json.dumps(number)},{end}}}')


def main(mode: str) -> None:
    assert os.environ[VARIABLE] == KEY
    for line in sys.stdin:
        asked = json.loads(line)
        result = {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s"}}
        if asked.get("method") == "session/prompt":
            answer(mode, asked["id"])
        elif "id" in asked and "method" in asked:
            known = result.get(asked["method"], {})
            write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": known}))


if __name__ == "__main__":
    main(sys.argv[1])
