"""Which values an agent is started with are keys."""

from __future__ import annotations

import pytest

from conformance.targets.agent.passed_keys import passed_keys

TOKEN = "n0-Sha/pe+at_all=77xY"


@pytest.mark.parametrize(
    ("environment", "words", "expected"),
    [
        ({"OTHER_API_KEY": TOKEN}, [], [TOKEN]),
        ({"HF_TOKEN": TOKEN, "AZURE_OPENAI_KEY": TOKEN}, [], [TOKEN, TOKEN]),
        ({"DB_PASSWORD": "correct-horse"}, [], ["correct-horse"]),
        ({"OPENAI_API_KEY": "played"}, [], []),
        ({"PWD": "/usr/bin", "MY_SECRET": "/usr/bin"}, [], []),
        ({"TOKENIZERS_PARALLELISM": "false-or-true-1", "HOTKEY": "control-shift"}, [], []),
        ({"MODEL": TOKEN}, [], []),
        ({}, ["env", f"A_TOKEN={TOKEN}", "agent"], [TOKEN]),
        ({}, ["agent", f"--api-key={TOKEN}"], [TOKEN]),
        ({}, ["agent", "--api-key", TOKEN], [TOKEN]),
        ({}, ["agent", "--model", TOKEN, "--api-key"], []),
    ],
)
def test_a_key_is_told_by_its_name(
    environment: dict[str, str], words: list[str], expected: list[str]
) -> None:
    assert passed_keys(environment, words) == expected
