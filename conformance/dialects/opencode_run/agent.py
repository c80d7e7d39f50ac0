"""How to prompt opencode on its command line: a process a turn.

Its settings name a provider `played` of Chat Completions, and refuse every tool that does
more than read. Sessions are kept below the folder of the agent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.dialects.agent import AgentForm, Message, agent_request, user_text
from conformance.dialects.json_edge import string

_TURN: Final = "input"
_SESSION: Final = "sessionID"
_PROVIDER: Final = "played"
# With a title of ours it does not ask the model for one.
_OPTIONS: Final = ("--format", "json", "--thinking", "--title", "played")
_SWITCHES: Final = ("AUTOUPDATE", "MODELS_FETCH", "CLAUDE_CODE", "SHARE", "LSP_DOWNLOAD")
_REFUSED: Final = ("edit", "bash", "webfetch", "task", "external_directory")


def _words(body: Message, model: str, folder: str) -> Sequence[str]:
    session = string(body.get(_SESSION))
    carried = ("--session", session) if session else ()
    chosen = ("--dir", folder, "--model", f"{_PROVIDER}/{model}")
    return ("run", *_OPTIONS, *chosen, *carried, "--", user_text(body, _TURN))


def _environment(url: str, model: str, folder: Path) -> Mapping[str, str]:
    """Where its settings are, and what they say; its homes are below `folder`."""
    known = {model: {"reasoning": True, "tool_call": True}}
    package = {"npm": "@ai-sdk/openai-compatible", "name": _PROVIDER, "models": known}
    provider = {**package, "options": {"baseURL": f"{url}/v1", "apiKey": "played"}}
    settings = {"provider": {_PROVIDER: provider}, "permission": dict.fromkeys(_REFUSED, "deny")}
    homes = {f"XDG_{each}_HOME": str(folder / each.lower()) for each in ("CONFIG", "DATA", "STATE")}
    off = {f"OPENCODE_DISABLE_{each}": "1" for each in _SWITCHES}
    return {**homes, **off, "OPENCODE_CONFIG_CONTENT": json.dumps(settings)}


AGENT: Final = AgentForm(_words, environment=_environment)
REQUEST: Final = agent_request(_TURN, _SESSION)
