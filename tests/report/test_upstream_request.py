from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette.redaction.redact import REDACTED
from conformance.core.events import Request
from conformance.report.upstream import BODY, curl_line

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
HEADERS = (("content-type", "application/json"), ("authorization", REDACTED), ("host", "x"))


def words(line: str) -> list[str]:
    return shlex.split(line)


def test_a_request_is_a_line_without_keys() -> None:
    line, body = curl_line(
        Request(path="/v1/responses", headers=HEADERS, json={"a": 1}), "openai.responses"
    )
    assert body is None
    assert line == (
        'curl -sN "$BASE_URL"/v1/responses -H "authorization: Bearer $API_KEY"'
        " -H 'content-type: application/json' -d '{\"a\":1}'"
    )


def test_each_dialect_has_its_key() -> None:
    line, _ = curl_line(Request(json={}), "anthropic.messages")
    assert '-H "x-api-key: $API_KEY"' in line


def test_a_request_without_a_body_states_its_method() -> None:
    line, _ = curl_line(Request(method="GET", path="/v1/models"), "openai.chat")
    assert words(line)[:4] == ["curl", "-sN", "-X", "GET"]
    assert "-d" not in words(line)


def test_a_long_body_stands_in_a_file() -> None:
    line, body = curl_line(Request(json={"text": "x" * 5000}), "openai.chat")
    assert line.endswith(f"-d @{BODY}")
    assert body is not None
    assert json.loads(body) == {"text": "x" * 5000}


@given(path=st.text(max_size=20), name=st.text(max_size=9), value=st.text(max_size=20), body=JSON)
def test_no_request_leaves_its_words(path: str, name: str, value: str, body: Any) -> None:
    request = Request(path=f"/{path}", headers=((name, value),), json={"body": body})
    line, _ = curl_line(request, "openai.chat")
    assert line.isprintable()
    told = words(line)
    assert told[0:2] == ["curl", "-sN"]
    assert told[2].startswith("$BASE_URL/")
    assert json.loads(told[told.index("-d") + 1]) == {"body": body}


@pytest.mark.parametrize("text", ["$(touch x)", "`touch x`", "'; touch x; '", "\n touch x\n", "\\"])
def test_a_shell_runs_nothing_else(text: str, tmp_path: Path) -> None:
    request = Request(method=text, path=f"/{text}", headers=((text, text),), json={text: text})
    line, _ = curl_line(request, "openai.chat")
    script = line.replace("curl", "printf '%s\\n'", 1)
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert list(tmp_path.iterdir()) == []
    assert done.stdout.splitlines()[0] == "-sN"
