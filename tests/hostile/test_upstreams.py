"""Whatever a server does, `record` and `watch` go on for other clients, and cost little."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.hostile import Behaviour, Heard, chunked, head, whole
from tests.hostile.answers import GOOD as GOOD_STREAM
from tests.hostile.clients import GOOD, PATIENCE_S, connected
from tests.hostile.hosting import hosting
from tests.hostile.limited import run_limited
from tests.hostile.test_clients import answer_to_good_client, expect_a_sound_end, listening
from tests.hostile.test_servers import is_clean
from tests.hostile.upstreams import ASKED, BEHIND_A_PROXY, cut_tls, one_after_the_other
from tests.targets.test_record_direct import certificate

TAKEN: Final = 2_000_000  # bytes, after which the client leaves
LAST_CHUNK: Final = b"\r\n0\r\n\r\n"  # after it the connection stays open, and nothing comes
SECONDS: Final = 10.0  # of processor time for one exchange, whatever came of it
ENDED_CODES: Final = (0, 3)
VERBS: Final[dict[str, tuple[str, ...]]] = {
    "record": ("record", "-o", "taken"),
    "watch": ("watch", "--save", "taken"),
}


def processor_seconds(port_of: Path) -> float:
    """What the processes of a folder have used, those that ended included."""
    used = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if (stat.parent / "cwd").resolve() == port_of:
                fields = stat.read_text().rpartition(") ")[2].split()
                used += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return used


def take_some(port: int) -> None:
    """A client that asks, takes what comes up to a bound or the end of the body, and leaves."""
    with connected(port) as one, suppress(OSError):
        one.settimeout(PATIENCE_S)
        one.sendall(GOOD)
        taken, last = 0, b""
        while taken < TAKEN and not last.endswith(LAST_CHUNK) and (data := one.recv(65536)):
            taken += len(data)
            last = (last + data)[-len(LAST_CHUNK) :]


@contextmanager
def hosting_one_by_one(behaviours: list[Behaviour]) -> Iterator[Heard]:
    """Each behaviour for one client, and then a good answer for one."""
    good = whole(chunked(GOOD_STREAM))
    behave = good
    for each in reversed(behaviours):
        behave = one_after_the_other(each, one_after_the_other(good, behave))
    with hosting(behave) as heard:
        yield heard


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(each, marks=() if each == "silence" else pytest.mark.hostile)
        for each in BEHIND_A_PROXY
    ],
)
def test_what_stands_between_goes_on(verb: str, kind: str, tmp_path: Path) -> None:
    behaviours = BEHIND_A_PROXY[kind]
    name, *more = VERBS[verb]
    with hosting_one_by_one(list(behaviours.values())) as heard:
        proxy = (name, "--proxy", "127.0.0.1:0", "--upstream", heard.url, *more)
        with listening(tmp_path, *proxy) as port:
            dear, used = [], processor_seconds(tmp_path)
            for what in behaviours:
                take_some(port)
                assert b"data: [DONE]" in answer_to_good_client(port), what
                before, used = used, processor_seconds(tmp_path)
                if used - before > SECONDS:
                    dear.append((what, used - before))
    assert dear == []
    expect_a_sound_end(tmp_path)


@pytest.mark.hostile
@pytest.mark.parametrize("name", ASKED)
def test_asking_ends_within_bounds(name: str, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "m", "messages": [], "stream": True}))
    with hosting(ASKED[name]) as heard:
        ended = run_limited(
            [
                *("record", "--url", f"{heard.url}/v1", "--api", "chat", "--request", str(request)),
                *("-o", str(tmp_path / "a.cassette.jsonl"), "--timeout", "60"),
                *("--idle-timeout", "5"),
            ],
            seconds=60,
            megabytes=600,
        )
    assert ended.code in ENDED_CODES, ended.output[-2000:]
    assert is_clean(ended)


TLS: Final[dict[str, Behaviour]] = {
    "a close without close_notify": cut_tls(chunked(GOOD_STREAM)),
    "the same in the midst of a body": cut_tls(chunked(GOOD_STREAM)[:300]),
    "the same of a body without a length": cut_tls(head() + GOOD_STREAM),
    "the same in the head": cut_tls(head()[:20]),
}


@pytest.mark.parametrize("name", TLS)
def test_tls_that_is_cut_is_an_end(name: str, tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    good = whole(chunked(GOOD_STREAM))
    with hosting(one_after_the_other(TLS[name], good), context) as heard:
        upstream = ("--upstream", heard.url.replace("http:", "https:"), "--insecure")
        proxy = ("record", "--proxy", "127.0.0.1:0", *upstream, "-o", "taken")
        with listening(tmp_path, *proxy) as port:
            take_some(port)
            assert b"data: [DONE]" in answer_to_good_client(port)
    expect_a_sound_end(tmp_path)


@pytest.mark.parametrize(("scheme", "code"), [("https", 3), ("http", 3)])
def test_the_wrong_protocol_is_reported(scheme: str, code: int, tmp_path: Path) -> None:
    """TLS where none is spoken, and none where TLS is."""
    pem = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    request = tmp_path / "request.json"
    request.write_text('{"model":"m"}')
    tls = None if scheme == "https" else context
    with hosting(whole(chunked(GOOD_STREAM)), tls) as heard:
        url = heard.url.replace("http:", f"{scheme}:")
        asked = ("--api", "chat", "--request", str(request), "-o", str(tmp_path / "a.jsonl"))
        ended = run_limited(["record", "--url", f"{url}/v1", *asked])
    assert ended.code in (2, code)
    assert is_clean(ended)
