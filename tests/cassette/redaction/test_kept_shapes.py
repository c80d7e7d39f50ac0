"""Our shapes of keys against a kept list of rules: what it draws, redaction finds, but for a few.

The list is `kingfisher-secret-scanner` (Apache-2.0), whose rules follow Betterleaks and gitleaks.
Held are rules that know a key by itself; those that want a vendor's name and a sign of assignment
before it say nothing about the key.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

import pytest

from conformance.cassette import Redactor

_ASSIGNED: Final = "(?:=|>|:{1,3}="
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_CLASSES: Final = {
    "CATEGORY_NOT_SPACE": _LETTERS,
    "CATEGORY_DIGIT": "0123456789",
    "CATEGORY_WORD": "abcXYZ019_",
    "CATEGORY_SPACE": " ",
}
_DRAWS: Final = 8
LEFT_OUT: Final[dict[str, tuple[str, ...]]] = {
    "an address or the name of an account, no key": (
        *("artifactory-jfrog-url", "auth0-domain.1"),
        *("azure-storage-account-name", "azure-tenant-id"),
        *("gitlab-incoming-mail-address-token", "lark-app-id"),
        *("microsoft-teams-webhook", "salesforce-instance-url.1"),
        *("secrets/packagistorgreadtoken-repository", "secrets/packagistorgupdatetoken-repository"),
        *("snowflake-account-host.1", "supabase-project-url"),
        *("tableau-server-host.1", "upstash-redis-rest-url.1"),
    ),
    "letters and digits of no shape, behind a word somewhere before": (
        *("aiven-auth-token", "amplitude-secret-key"),
        *("azure-app-configuration-connection-string", "bitly-access-token"),
        *("canva-client-id", "clickhouse-cloud-key-id"),
        *("cloudinary-api-key", "cloudinary-api-secret"),
        *("cloudinary-cloud-name", "couchbase-capella-api-key"),
        *("curl-auth-user", "freemius-secret-key"),
        *("gcp-application-default-credentials", "gcp-service-account"),
        *("kubernetes-secret-yaml", "nuget-config-password"),
        *("planetscale-id", "secrets/bitwardenoauth2access"),
        *("secrets/cloudflareapitoken", "secrets/hcpclientcredentials"),
        *("secrets/hcpclientcredentials-client-id",),
    ),
    "with the host beside it, which stays, or a password that a URL tells": (
        *("azure-servicebus-connection-string", "generic-credential-uri"),
        *("mongodb-connection-string", "secrets/bitbucketcredentials"),
        *("secrets/codecatalystcredentials", "secrets/codecommitcredentials"),
        *("sidekiq-sensitive-url",),
    ),
    "a shape that other texts have, too": (
        *("ebay-client-id", "tableau-personal-access-token.1"),
        *("vault-service-token", "zai-api-key"),
    ),
    "drawn as no vendor writes it: capitals in a prefix, no JSON in base64": (
        *("curl-auth-header", "deepseek-api-key"),
        *("jwt", "jwt-base64"),
        *("kimi-api-key", "private-key"),
        *("sendgrid-api-token", "slack-config-access-token"),
        *("slack-session-cookie", "slack-webhook-url"),
        *("temporal-cloud-api-key.1",),
    ),
    "drawn without a digit, as words are, or very short": (
        *("alibaba-sts-access-key-id", "brave-search-api-key"),
        *("exoscale-api-key", "influxdb-api-token"),
        *("lichess-personal-access-token", "polar-oauth-access-token"),
        *("polar-personal-access-token", "proof-full-access-api-key"),
        *("slack-app-token", "slack-legacy-workspace-token"),
        *("thunderstore-api-token.1", "unkey-root-key.1"),
    ),
}


class Drawing:
    """Draws a text that a pattern of Python's engine matches."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.groups: dict[int, str] = {}

    def text(self, parsed: Any) -> str:
        return "".join(self._one(str(kind), value) for kind, value in parsed)

    def _one(self, kind: str, value: Any) -> str:
        return _KINDS[kind](self, value) if kind in _KINDS else self.text(value)

    def choice(self, of: Sequence[Any]) -> Any:
        return self._draw.choice(of)

    def repeated(self, value: Any) -> str:
        least, most, inner = value
        count = self._draw.randint(least, min(int(most), least + 20))
        return "".join(self.text(inner) for _ in range(count))

    def group(self, value: Any) -> str:
        self.groups[value[0]] = drawn = self.text(value[3])
        return drawn


_KINDS: Final[dict[str, Callable[[Drawing, Any], str]]] = {
    "LITERAL": lambda _, value: chr(value),
    "NOT_LITERAL": lambda _, value: "b" if value == ord("a") else "a",
    "AT": lambda *_: "",
    "ASSERT": lambda *_: "",
    "ASSERT_NOT": lambda *_: "",
    "ANY": lambda drawing, _: str(drawing.choice(_LETTERS)),
    "IN": lambda drawing, value: str(drawing.choice(_members(value))),
    "MAX_REPEAT": Drawing.repeated,
    "MIN_REPEAT": Drawing.repeated,
    "POSSESSIVE_REPEAT": Drawing.repeated,
    "BRANCH": lambda drawing, value: drawing.text(drawing.choice(value[1])),
    "GROUPREF": lambda drawing, value: drawing.groups[value],
    "SUBPATTERN": Drawing.group,
}


def _members(value: Any) -> list[str]:
    found: list[str] = []
    for kind, member in value:
        if str(kind) == "LITERAL":
            found.append(chr(member))
        elif str(kind) == "RANGE":
            found += map(chr, range(member[0], member[1] + 1))
        elif str(kind) == "CATEGORY":
            found += _CLASSES.get(str(member), "")
    if str(value[0][0]) == "NEGATE":
        found = [char for char in _LETTERS if char not in found]
    return found or ["-"]


def _as_python(pattern: str) -> str:
    for theirs, ours in (
        ("[[:alnum:]]", "[A-Za-z0-9]"),
        (r"\z", r"\Z"),
        ("[:word:]", r"\w"),
        ("(?-i:", "(?:"),
    ):
        pattern = pattern.replace(theirs, ours)
    return re.sub(r"\(\?[ixs]+\)", "", pattern)


@cache
def rules() -> tuple[dict[str, Any], ...]:
    scanner = pytest.importorskip("kingfisher_sdk")
    found = scanner.Rules(confidence="low")
    return tuple(found.detail(each["id"]) for each in found.metadata())


def keys(rule: dict[str, Any], draw: random.Random) -> Iterator[str]:
    """Keys that the rule knows by themselves; none where its pattern is none of Python's."""
    pattern = _as_python(rule["pattern"])
    if _ASSIGNED in pattern or "(?x)" in rule["pattern"]:
        return
    try:
        compiled = re.compile(pattern)
    except re.error:
        return
    group = rule["betterleaks_secret_group"] or min(compiled.groups, 1)
    for _ in range(_DRAWS):
        match = compiled.search(Drawing(draw).text(_parser.parse(pattern)))
        if match:
            yield match[group] or match[0]


def is_found(key: str) -> bool:
    body = f'data: {{"delta":{{"content":{json.dumps(f"see {key} there")}}}}}\n\n'
    return key[-8:].encode() not in Redactor().body(body.encode())


def test_every_key_of_the_kept_list_is_found_but_for_those_that_are_named() -> None:
    draw = random.Random(5)
    drawn = {each["id"].partition(".")[2]: list(keys(each, draw)) for each in rules()}
    missed = {name for name, some in drawn.items() if not all(map(is_found, some))}
    named = {name for names in LEFT_OUT.values() for name in names}
    assert sum(map(bool, drawn.values())) > 250
    assert missed <= named
    assert named <= drawn.keys()
