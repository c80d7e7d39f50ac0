"""Which variables reach a program under test."""

from __future__ import annotations

import pytest

from conformance.core.errors import UsageError
from conformance.targets.passed_environment import passed_environment

KEYS = (
    "OPENROUTER_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
    "SSH_AUTH_SOCK",
    "MY_SETTING",
)
NEEDED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_MESSAGES", "TMPDIR", "TERM", "VIRTUAL_ENV")
NETWORK = ("HTTPS_PROXY", "http_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")


def test_programs_get_what_they_need_and_no_key() -> None:
    ours = dict.fromkeys((*KEYS, *NEEDED, *NETWORK), "x")
    passed = passed_environment(environment=ours)
    assert passed.keys() - {"NO_PROXY", "no_proxy"} == {*NEEDED, *NETWORK}


def test_nothing_stands_between_a_program_and_this_machine() -> None:
    passed = passed_environment(environment={"NO_PROXY": "example.com"})
    assert passed["NO_PROXY"] == "example.com,127.0.0.1,localhost,::1"
    assert passed["no_proxy"] == "127.0.0.1,localhost,::1"


def test_what_is_named_is_passed_on() -> None:
    ours = dict.fromkeys(KEYS, "x")
    passed = passed_environment(["MY_SETTING", "DATABASE_URL"], ours)
    assert passed.keys() & set(KEYS) == {"MY_SETTING", "DATABASE_URL"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NOT_THERE", "--pass NOT_THERE: the environment has no such variable"),
        ("KEY=hidden-value", "got 'KEY'$"),
        ("A B", "expects the name of a variable"),
        ("", "expects the name of a variable"),
    ],
)
def test_a_name_that_is_none_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        passed_environment([name], {"A": "x"})
    assert "hidden" not in str(refused.value)
