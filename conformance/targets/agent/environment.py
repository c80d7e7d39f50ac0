"""The environment of an agent: the model that it asks is the one that the toolkit plays.

Of ours it gets what programs need to start, and what the user passes on (`passed_environment`).

Each variable and file is known to some provider package or coding tool. What they do not look at
does no harm; what they do is the command's own to change (`env NAME=VALUE CMD`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from conformance.core.errors import UsageError
from conformance.targets.passed_environment import passed_environment

KEY: Final = "played"  # what is where a key is requested; no key of the user's is passed on
_URLS: Final[Mapping[str, str]] = {
    "OPENAI_BASE_URL": "{url}/v1",
    "OPENAI_API_BASE": "{url}/v1",
    "ANTHROPIC_BASE_URL": "{url}",
    "GOOGLE_GEMINI_BASE_URL": "{url}",
    "OLLAMA_HOST": "{url}",
    "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
}
_KEYS: Final = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
_MODELS: Final = ("OPENAI_MODEL", "COPILOT_MODEL")
# Whoever has one of these may ask another model than ours, or ask ours by another name.
_NEVER: Final = ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_API_KEY")
_SWITCHES: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    # One try a call: what fails upstream fails at once.
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "COPILOT_OFFLINE": "true",
}
_CODEX: Final = """\
model = {model}
model_provider = "played"
[model_providers.played]
name = "played"
base_url = "{url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


def agent_environment(
    url: str, model: str, folder: Path, passed: Iterable[str] = ()
) -> dict[str, str]:
    """Return a program's environment, with the model's address; homes of tools are in `folder`.

    `url` is that of the played model, without `/v1`; `passed` are names of variables of ours.
    Raises UsageError for one that is not there, or that would name another model or its key.
    """
    homes = {"CODEX_HOME": folder / "codex", "CLAUDE_CONFIG_DIR": folder / "claude"}
    played = {name: value.format(url=url) for name, value in _URLS.items()}
    played |= dict.fromkeys(_KEYS, KEY) | dict.fromkeys(_MODELS, model) | _SWITCHES
    played |= {name: str(home) for name, home in homes.items()}
    for name in passed:
        if name in played or name in _NEVER:
            hint = f"--agent 'env {name}=... CMD' sets it nevertheless"
            raise UsageError(f"--pass {name}: the agent is to ask the played model", hint=hint)
    environment = passed_environment(passed) | played
    for home in homes.values():
        home.mkdir()
    settings = _CODEX.format(url=url, model=json.dumps(model))
    (homes["CODEX_HOME"] / "config.toml").write_text(settings, encoding="utf-8")
    return environment
