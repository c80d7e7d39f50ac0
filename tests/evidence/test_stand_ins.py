"""What Google allows in the place of a signature that never came is no broken one."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.recordings.check import check_paths
from tests.cassette.saved_files import stored

URL: Final = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"
CALL: Final = {"functionCall": {"name": "look_up", "args": {"x": 1}}}
ASKED: Final = {"role": "user", "parts": [{"text": "Why is it?"}]}
RESULT: Final = {"role": "user", "parts": [{"functionResponse": {"name": "look_up"}}]}
STAND_IN: Final = "skip_thought_signature_validator"
MADE_UP: Final = ["history/gemini/signed-unchanged"]


def interaction(contents: list[Any], part: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": [part]}
    answer = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    return {
        "request": {"method": "POST", "uri": URL, "body": json.dumps({"contents": contents})},
        "response": {"status": {"code": 200}, "body": {"string": json.dumps(answer)}},
    }


@pytest.mark.parametrize(
    ("signature", "found"),
    [
        (STAND_IN, ["history/gemini/no-stand-in"]),
        (base64.b64encode(STAND_IN.encode()).decode(), ["history/gemini/no-stand-in"]),
        ("bWFkZSB1cA==", MADE_UP),
    ],
)
def test_needless_stand_in_is_a_warning(tmp_path: Path, signature: str, found: list[str]) -> None:
    called = {"role": "model", "parts": [{**CALL, "thoughtSignature": signature}]}
    talk = [interaction([ASKED], CALL), interaction([ASKED, called, RESULT], {"text": "So."})]
    path = stored(tmp_path, "a.json", json.dumps({"interactions": talk, "version": 1}))
    findings = (each for stream in check_paths([path]).streams for each in stream.findings)
    assert sorted(each.rule for each in findings if each.rule.startswith("history/")) == found
