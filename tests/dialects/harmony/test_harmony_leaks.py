"""Markers of token text that a server leaves in the answer of another dialect."""

from __future__ import annotations

import json

import pytest

from conformance.dialects.harmony.markers import SPECIAL_TOKENS
from conformance.recordings.api import check_chunks


@pytest.mark.parametrize("marker", SPECIAL_TOKENS.values())
def test_every_marker_that_leaks_into_visible_text_is_found(marker: str) -> None:
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": f"Yes.{marker[:3]}"}}]},
        {"choices": [{"index": 0, "delta": {"content": marker[3:]}}]},
    ]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    report = check_chunks([body.encode()], dialect="openai.chat", suites=["stripping"])
    found = {finding.rule for stream in report.streams for finding in stream.findings}
    assert found & {"stripping/visible-text/no-markers", "stripping/visible-text/no-call-markers"}
