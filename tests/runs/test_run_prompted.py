"""Runs against servers that are asked by one prompt: TGI and SGLang, by their own paths."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.fakes.prompted import Prompted
from tests.plain_results import violated
from tests.runs.conftest import Runner

TGI: Final = "huggingface.tgi"
SGLANG: Final = "sglang.generate"
_PARAMETERS: Final = ("parameters", "sampling_params")
ASKED: Final = {"format", "length", "sanity", "stop", "think", "wrong-request"}


@pytest.mark.parametrize("dialect", [TGI, SGLANG])
def test_a_right_server_has_no_finding(dialect: str, run: Runner) -> None:
    report = run(Prompted(dialect), dialects=(dialect,)).report
    assert violated(report) == set()
    assert {stream.scenario for stream in report.streams} == ASKED


LOST: list[tuple[str, int, str]] = [
    (TGI, 1, "wire/tgi/end-present"),
    (TGI, 2, "wire/tgi/index-counts"),
    (SGLANG, 1, "wire/sglang/done-present"),
    (SGLANG, 2, "wire/sglang/end-present"),
]


@pytest.mark.parametrize(("dialect", "loses", "rule"), LOST)
def test_an_event_that_is_lost_is_found(dialect: str, loses: int, rule: str, run: Runner) -> None:
    report = run(Prompted(dialect, loses=loses), "stop", dialects=(dialect,)).report
    assert rule in violated(report)


SENT: list[tuple[str, set[str], dict[str, Any]]] = [
    (
        TGI,
        {"/generate", "/generate_stream"},
        {"inputs": "What is 2 + 2?", "parameters": {"max_new_tokens": 2048, "details": True}},
    ),
    (
        SGLANG,
        {"/generate"},
        {"text": "What is 2 + 2?", "sampling_params": {"max_new_tokens": 2048}},
    ),
]


@pytest.mark.parametrize(("dialect", "paths", "body"), SENT)
def test_a_prompt_is_asked_at_the_path_of_its_api(
    dialect: str, paths: set[str], body: dict[str, Any], run: Runner
) -> None:
    server = Prompted(dialect)
    run(server, "think", dialects=(dialect,))
    assert {path for path, _ in server.asked} == paths
    _, sent = server.asked[0]
    assert sent.keys() - {"stream"} == body.keys()
    for key, stated in body.items():
        part = {name: sent[key][name] for name in stated} if key in _PARAMETERS else sent[key]
        assert part == stated
