"""An adapter that only stores and restores: `python client_store.py FORM`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
ABOUT = {
    "name": "store",
    "language": "python",
    "version": "1",
    "dialects": ["openai.chat"],
    "ops": ["restore", "store"],
    "events": ["thinking.delta", "text.delta"],
}


def flat(text: str, thinking: str) -> Record:
    return {"thought": text, **({"reasoning_content": thinking} if thinking else {})}


def nested(text: str, thinking: str) -> Record:
    return {"args": {"thought": {"text": text, **flat("", thinking)}}}


def empty(text: str, thinking: str) -> Record:
    return {"args": {"thought": text, "reasoning_content": thinking}}


def thoughtless(text: str, _thinking: str) -> Record:
    return {"thought": text}


FORMS: dict[str, Callable[[str, str], Record]] = {
    "flat": flat,
    "nested": nested,
    "empty": empty,
    "thoughtless": thoughtless,
}


def restored(stored: Record) -> list[Record]:
    args = stored.get("args", stored)
    thought = args["thought"]
    inner = thought if isinstance(thought, dict) else {"text": thought}
    thinking = inner.get("reasoning_content") or args.get("reasoning_content")
    events = [{"type": "thinking.delta", "channel": "raw", "text": thinking}] if thinking else []
    return [*events, {"type": "text.delta", "text": inner["text"]}]


def answer(command: Record, form: str) -> Record:
    if command["cmd"] == "store":
        message = command["message"]
        return {"stored": FORMS[form](message["content"], message.get("reasoning_content") or "")}
    if command["cmd"] == "restore":
        return {"events": restored(command["stored"])}
    return {"skipped": "unknown"}


def main(form: str) -> None:
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "stop":
            return
        if command["cmd"] == "start":
            introduction: Record = {"version": 1, "implementation": ABOUT}
        else:
            introduction = {"seq": command["seq"], **answer(command, form)}
        sys.stdout.write(json.dumps(introduction) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
