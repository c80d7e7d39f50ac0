"""The examples of docs/python.md do what the page says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.core.events import ENDINGS

PAGE = Path(__file__).parents[2] / "docs/python.md"
LEAK = "stripping/visible-text/no-markers"

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def examples() -> list[str]:
    """The examples, in the order of the page."""
    parts = PAGE.read_text(encoding="utf-8").split("```python\n")[1:]
    return [part.split("```")[0] for part in parts]


def ran(number: int) -> dict[str, Any]:
    """What is defined once the example has run."""
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(examples()[number], f"{PAGE.name}, example {number}", "exec"), names)
    return names


def test_a_checker_judges_chunks_with_times(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(0)["result"]
    assert f"{LEAK} 1 " in capsys.readouterr().out
    assert "no clock was recorded" not in result.reasons.values()


def test_a_stream_is_judged_while_it_passes() -> None:
    names = ran(1)
    assert LEAK in [found.rule for found in names["found"]]
    assert names["result"].verdicts["wire/chat/finish-present"].value == "INCONCLUSIVE"


FRAME = b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n'


async def application(scope: Message, receive: Receive, send: Send) -> None:
    """Leaks a marker, wherever it is asked."""
    await receive()
    head = {"status": 200, "headers": [(b"content-type", b"text/event-stream")]}
    await send({"type": "http.response.start", **head})
    for text in (b"a", b"</think>b"):
        await send({"type": "http.response.body", "body": FRAME % text, "more_body": True})
    if scope["headers"] and (b"x-fail", b"1") in scope["headers"]:
        raise RuntimeError("the application failed")
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


async def answer_of(app: Any, path: str, *, fail: bool = False) -> bytes:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://own") as client:
        headers = {"x-fail": "1"} if fail else {}
        answer = await client.post(path, json={"model": "m", "stream": True}, headers=headers)
        return answer.content


def test_the_middleware_counts_findings_and_passes_bytes_on() -> None:
    prometheus = pytest.importorskip("prometheus_client")
    names = ran(2)
    try:
        app = names["with_checks"](application)
        app.sample = 1.0
        path = "/v1/chat/completions"
        bodies = [asyncio.run(answer_of(app, each)) for each in (path, "/other", path)]
        assert bodies == [FRAME % b"a" + FRAME % b"</think>b" + b"data: [DONE]\n\n"] * 3
        count = prometheus.REGISTRY.get_sample_value
        labels = {"rule": LEAK, "level": "MUST"}
        assert count("stream_findings_total", labels) == 2
        with pytest.raises(RuntimeError, match="the application failed"):
            asyncio.run(answer_of(app, path, fail=True))
        assert count("stream_findings_total", labels) == 3
        asyncio.run(
            answer_of(names["StreamChecks"](application, app.checker, None, sample=0.0), path)
        )
    finally:
        prometheus.REGISTRY.unregister(names["FINDINGS"])


def test_a_checker_goes_to_other_processes(tmp_path: Path) -> None:
    for number, text in enumerate((b"a", b"</think>")):
        (tmp_path / f"{number}.sse").write_bytes(FRAME % text)
    good, bad = list(ran(3)["main"](tmp_path))
    assert LEAK in bad
    assert LEAK not in good


def test_the_page_names_every_ending() -> None:
    row = next(line for line in PAGE.read_text().splitlines() if line.startswith("| `end` "))
    assert row.split("`")[3::2] == list(ENDINGS)
