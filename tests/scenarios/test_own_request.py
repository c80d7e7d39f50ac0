"""A user's own request becomes a scenario that sends it as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.scenarios import own_request


def test_a_body_is_one_step_of_its_dialect(tmp_path: Path) -> None:
    path = tmp_path / "My request.json"
    path.write_text('{"model": "m", "stream": true}')
    scenario = own_request(path, "openai.chat")
    (step,) = scenario.steps_for("openai.chat")
    assert scenario.name == "my-request"
    assert step.bodies["openai.chat"] == {"model": "m", "stream": True}
    assert scenario.steps_for("openai.responses") == ()


@pytest.mark.parametrize(
    ("data", "said"), [(b"[", "no JSON"), (b"[1]", "expected a JSON object"), (b"\xff", "no JSON")]
)
def test_what_is_no_body_is_told_with_its_file(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=said) as caught:
        own_request(path, "openai.chat")
    assert str(path) in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        own_request(tmp_path / "none.json", "openai.chat")
