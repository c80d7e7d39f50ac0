"""Whatever a server does, a run ends within its bounds, and says what it was."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.hostile.hosting import hosting
from tests.hostile.limited import EndedProcess, run_limited
from tests.hostile.servers import SERVERS, HostileServer

# What a terminal obeys, but for tabs and line ends; and what reorders text.
CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
CASES: Final = [
    pytest.param(each, id=each.name, marks=() if each.sampled else pytest.mark.hostile)
    for each in SERVERS
]


def is_clean(ended: EndedProcess) -> bool:
    return not CONTROL.search(ended.output) and "Traceback" not in ended.output


@pytest.mark.one_in(4)
@pytest.mark.parametrize("server", CASES)
def test_a_run_ends_within_bounds(server: HostileServer) -> None:
    with hosting(server.behave) as heard:
        ended = run_limited(
            ["run", "--url", heard.url, *server.more],
            seconds=server.seconds,
            megabytes=server.megabytes,
        )
    assert ended.code == server.code, ended.output[-2000:]
    assert server.said in ended.output
    assert is_clean(ended)


def test_the_catalogue_names_each_server_once() -> None:
    assert len({each.name for each in SERVERS}) == len(SERVERS) >= 40
