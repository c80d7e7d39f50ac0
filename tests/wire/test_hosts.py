"""Pages of other sites are refused by what their browser says of them."""

from __future__ import annotations

import pytest

from conformance.core.errors import UsageError
from conformance.wire.hosts import AllowedHosts, parsed_origins
from conformance.wire.requests import HttpRequest, RequestRejected


def asked(origin: str | None, site: str | None, host: str = "127.0.0.1:9000") -> HttpRequest:
    stated = (("Host", host), ("Origin", origin), ("Sec-Fetch-Site", site))
    headers = tuple((name, value) for name, value in stated if value is not None)
    return HttpRequest("POST", "/v1/chat/completions", headers, b"{}")


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        ("http://evil.example", "cross-site"),
        ("HTTPS://EVIL.example:8443", None),
        ("http://localhost.evil.example", None),
        ("http://127.0.0.1.evil.example", None),
        ("http://127.0.0.1@evil.example", None),
        ("http://192.168.0.7", None),
        ("ftp://localhost", None),
        ("chrome-extension://abcdef", None),
        ("null", "cross-site"),
        ("http://[", None),
        (None, "cross-site"),
        (None, " Cross-Site "),
    ],
)
def test_pages_of_other_sites_are_refused(origin: str | None, site: str | None) -> None:
    with pytest.raises(RequestRejected, match="--allow-origin adds one") as refused:
        AllowedHosts.at("127.0.0.1").check_request(asked(origin, site))
    assert refused.value.status == 403


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        (None, None),
        (None, "same-origin"),
        (None, "none"),
        ("http://localhost:3000", "cross-site"),
        ("http://app.localhost:3000", None),
        ("http://127.0.0.1:5173", None),
        ("http://[::1]:3000", None),
        ("https://friend.example", "cross-site"),
    ],
)
def test_local_programs_and_pages_are_answered(origin: str | None, site: str | None) -> None:
    hosts = AllowedHosts.at("127.0.0.1", origins=["https://Friend.example/"])
    hosts.check_request(asked(origin, site))


def test_a_page_that_came_from_here_is_answered() -> None:
    hosts = AllowedHosts.at("box")
    hosts.check_request(asked("http://box:9000", "same-origin", host="box:9000"))
    with pytest.raises(RequestRejected):
        hosts.check_request(asked("http://box:9001", "same-site", host="box:9000"))


@pytest.mark.parametrize("text", ["evil.example", "http://a/b", "http://", "*", ""])
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--allow-origin expects"):
        parsed_origins([text])
