"""The reference server as a process: clean as it is, and a few of its defects in every API."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference_impl.server.defects import DEFECTS, Api
from tests.live import systems
from tests.live.judging import run
from tests.live.systems import Live

pytestmark = pytest.mark.live

APIS: tuple[Api, ...] = ("chat", "responses", "messages")
PLANTED: tuple[tuple[Api, str], ...] = (
    ("chat", "strip-lost-text"),
    ("chat", "wrap-unclosed"),
    ("chat", "finish-missing"),
    ("chat", "reset"),
    ("responses", "orphan-deltas"),
    ("responses", "index-reuse"),
    ("responses", "summary-in-done-only"),
    ("responses", "completed-on-cut"),
    ("messages", "signature-missing"),
    ("messages", "two-blocks-open"),
    ("messages", "reasoning-late"),
    ("messages", "torn-bytes"),
)


@pytest.mark.parametrize("api", APIS)
def test_nothing_is_found(reference: Live, api: Api, tmp_path: Path) -> None:
    judged = run("--url", reference.url, "--api", api, "--profile", "reference", save=tmp_path)
    assert judged.found == frozenset()
    assert judged.code == 0


@pytest.mark.parametrize(("api", "name"), PLANTED)
def test_a_defect_is_found_and_nothing_else(api: Api, name: str, tmp_path: Path) -> None:
    defect = DEFECTS[name]
    with systems.reference(tmp_path, "--defect", name) as live:
        judged = run("--url", live.url, "--api", api, "--profile", "reference", save=tmp_path / "s")
    assert judged.rules & set(defect.rules[api])
    assert judged.rules <= {*defect.rules[api], *defect.live}
