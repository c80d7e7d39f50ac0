"""What `/responses/compact` gives back is a window of items, no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.judging.checker import Checker


@pytest.mark.parametrize("more", [{}, {"usage": {"input_tokens": 9, "output_tokens": 2}}])
def test_a_compacted_window_breaks_nothing(more: dict[str, Any]) -> None:
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
    sealed = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAAwindow"}
    body = {"id": "resp_1", "object": "response.compaction", "created_at": 1, **more}
    found = Checker("openai.responses").check(
        [json.dumps({**body, "output": [user, sealed]}).encode()]
    )
    assert not found.findings


def test_another_object_is_still_none() -> None:
    body = {"id": "resp_1", "object": "chat.completion", "created_at": 1, "output": []}
    found = Checker("openai.responses").check([json.dumps(body).encode()])
    assert "wire/responses/object-said" in {each.rule for each in found.findings}
