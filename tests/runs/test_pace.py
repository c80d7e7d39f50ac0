"""How fast a run asks, and how long it waits; no test waits itself."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from conformance.core.events import Response
from conformance.runs.pace import RequestPace, RequestsSpentError, retry_after_seconds


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, time: float) -> None:
        self.slept.append(round(time, 6))
        self.now += time


def busy(retry_after: str | None = None, status: int = 429) -> Response:
    return Response(status, "1.1", (("retry-after", retry_after),) if retry_after else ())


def refused(
    response: Response | None, attempt: int, patience: float = 60.0
) -> tuple[bool, list[float]]:
    clock = Clock()
    pace = RequestPace(patience=patience, clock=clock, sleep=clock.sleep)
    return asyncio.run(pace.wait_after_refusal(response, attempt)), clock.slept


async def test_requests_are_spaced_out() -> None:
    clock = Clock()
    pace = RequestPace(rpm=30, clock=clock, sleep=clock.sleep)
    for _ in range(3):
        await pace.wait_turn()
    assert clock.slept == [2.0, 2.0]


def test_no_more_requests_than_allowed() -> None:
    pace = RequestPace(most=2)

    async def go() -> None:
        for _ in range(3):
            await pace.wait_turn()

    with pytest.raises(RequestsSpentError):
        asyncio.run(go())
    assert pace.sent == 2


@pytest.mark.parametrize(
    ("response", "attempt", "asks_again", "slept"),
    [
        (busy("7"), 0, True, [7.0]),
        (busy("0"), 0, True, [0.0]),
        (busy(status=503), 0, True, [1.0]),
        (busy(), 2, True, [4.0]),
        (busy("soon"), 0, True, [1.0]),
        (busy("61"), 0, False, []),
        (busy("1"), 3, False, []),
        (busy(status=500), 0, False, []),
        (None, 0, False, []),
    ],
)
def test_retry_after_is_obeyed_within_limits(
    response: Response | None, attempt: int, asks_again: bool, slept: list[float]
) -> None:
    assert refused(response, attempt) == (asks_again, slept)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("12", 12.0),
        (" 12 ", 12.0),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("9" * 5000, 86_400.0),
        ("Fri, 01 Jan 1999 00:00:00 GMT", 0.0),
        ("Fri, 99 Jan", None),
        ("", None),
    ],
)
def test_seconds_of_retry_after(text: str | None, expected: float | None) -> None:
    assert retry_after_seconds(text) == expected


def test_a_date_of_retry_after_is_read() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    found = retry_after_seconds(later)
    assert found is not None
    assert 3000 < found <= 3600
