from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.core.errors import UsageError
from conformance.targets.replay import BodySpot, Chunking, ReplayOptions, ReplayTiming

SPELLINGS = [
    (Chunking.parse, "recorded", Chunking()),
    (Chunking.parse, "events", Chunking("events")),
    (Chunking.parse, "bytes:3", Chunking("bytes", 3)),
    (Chunking.parse, "seed:0", Chunking("seed", 0)),
    (ReplayTiming.parse, "recorded", ReplayTiming(1)),
    (ReplayTiming.parse, "none", ReplayTiming(0)),
    (ReplayTiming.parse, "scale:0.25", ReplayTiming(0.25)),
    (BodySpot.parse, "event:0", BodySpot("event", 0)),
    (BodySpot.parse, "byte:17", BodySpot("byte", 17)),
]
WRONG = [
    *((Chunking.parse, text) for text in ("", "Events", "bytes", "bytes:0", "bytes:-1", "seed:x")),
    *((Chunking.parse, text) for text in ("seed:", "recorded:1", "bytes:1.5", "bytes:²", "x:1")),
    *(
        (ReplayTiming.parse, text)
        for text in ("", "scale", "scale:", "scale:-1", "scale:nan", "scale:x")
    ),
    *((ReplayTiming.parse, text) for text in ("scale:inf", "none:1", "1")),
    *(
        (BodySpot.parse, text)
        for text in ("", "5", "event", "event:-1", "byte:", "line:3", "byte:9e9")
    ),
    *((BodySpot.parse, text) for text in (f"byte:{10**30}", f"byte:{2**45}")),
]


@pytest.mark.parametrize(("parse", "text", "value"), SPELLINGS)
def test_a_spelling_and_its_value_are_one(
    parse: Callable[[str], object], text: str, value: object
) -> None:
    assert parse(text) == value
    assert str(value) == text


@pytest.mark.parametrize(("parse", "text"), WRONG)
def test_a_wrong_spelling_is_a_usage_error(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        parse(text)


def test_an_error_names_the_option() -> None:
    with pytest.raises(UsageError, match="stall: expected event:K or byte:N, got 'x'"):
        ReplayOptions.parse(stall="x")
    with pytest.raises(UsageError, match="how: expected fin or rst, got 'now'"):
        ReplayOptions.parse(how="now")


def test_cut_and_stall_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="not both"):
        ReplayOptions.parse(cut="event:1", stall="event:2")


def test_spellings_make_the_same_options_as_values() -> None:
    parsed = ReplayOptions.parse(
        chunking="seed:3", timing="scale:2", cut="byte:9", how="rst", crlf=True, comments=True
    )
    assert parsed == ReplayOptions(
        Chunking("seed", 3), ReplayTiming(2), BodySpot("byte", 9), "rst", comments=True, crlf=True
    )


def test_more_fields_and_headers_add_to_the_defaults() -> None:
    parsed, default = ReplayOptions.parse(ignore=("seed",), headers=("x-a",)), ReplayOptions()
    assert parsed.ignore == (*default.ignore, "seed")
    assert parsed.headers == (*default.headers, "x-a")
