from __future__ import annotations

import pytest

from conformance.cassette.header import named_target


@pytest.mark.parametrize(
    ("named", "name", "version"),
    [
        ("ogx-1.5.0", "ogx", "1.5.0"),
        ("pydantic-ai-2.68.0", "pydantic-ai", "2.68.0"),
        ("vllm-v0.9.1-rc1", "vllm", "v0.9.1-rc1"),
        ("acme-2026-11-28", "acme", "2026-11-28"),
        ("acme-main", "acme", "main"),
        ("acme", "acme", None),
        ("", None, None),
    ],
)
def test_a_version_begins_with_a_digit(named: str, name: str | None, version: str | None) -> None:
    found = named_target(named)
    assert (found.get("name"), found.get("version")) == (name, version)
