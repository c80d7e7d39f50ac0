"""Keys that an agent is started with: what our side gave it, it may say again.

Rule 1: a variable of the environment, an option or a header shows by its name that its value is
one; what may be called so and be none (`HOTKEY`, `AUTH`) must look drawn at random, too.
Rule 2: a value of any name may hold one: a password in a URL, a field in JSON, a header in a list,
what has the shape of a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from conformance.cassette.redaction.credentials import find_credentials
from conformance.cassette.redaction.key_likeness import is_key_like
from conformance.cassette.redaction.secret_names import (
    is_secret_name,
    is_secret_value,
    is_token,
    names_secret_header,
)

_ASSIGNED: Final = re.compile(r"-*([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_OPTION: Final = re.compile(r"--?([A-Za-z][\w-]*)")
_HEADER: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*[:=]\s*(.+)", re.DOTALL)
_HEADER_OPTIONS: Final = frozenset({"H", "header", "headers"})
_SHORT_OPTIONS: Final = frozenset({"k", "p", "u"})
_SEGMENTS: Final = re.compile(r"[A-Za-z]+")
_SURE: Final = frozenset({"password", "passwd", "passphrase", "pass", "pwd", "secret", "cookie"})
_LIKELY: Final = frozenset(
    {
        *("key", "token", "auth", "authorization", "bearer", "jwt", "pat", "credential", "cred"),
        *(
            *("apikey", "sig", "dsn", "webhook", "netrc", "kubeconfig", "session", "sessionid"),
            *("hmac", "pw", "sk"),
        ),
    }
)
_OWN_FOLDERS: Final = frozenset({"pwd", "oldpwd"})
_ENDINGS: Final = ("token", "key", "password")  # AZURE_OPENAI_KEY, PGPASSWORD
_URL_USER: Final = re.compile(r"[a-z][a-z0-9+.-]*://([^/?#@\s]*)@", re.IGNORECASE)
_URL_PARTS: Final = re.compile(r"[/?&=#]+")
_LISTED: Final = re.compile(r"[,;\s]+")
_SHORTEST: Final = 8
_SHORTEST_PASSWORD: Final = 6
_LONGEST: Final = 1 << 16  # characters of a value that are looked into


def passed_keys(environment: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """The keys in values of variables, and in words of a command."""
    found = [_keys_of(name, value) for name, value in environment.items()]
    found += [_keys_of(name, value) for name, value in _named_words(words)]
    found += [[*_keys_within(word)] for word in words if _ASSIGNED.fullmatch(word) is None]
    return [key for keys in found for key in dict.fromkeys(keys)]


def _named_words(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in pairwise([*words, ""]):
        if (assigned := _ASSIGNED.fullmatch(word)) is not None:
            yield assigned[1], assigned[2]
        elif (option := _OPTION.fullmatch(word)) is not None:
            yield option[1], following


def _keys_of(name: str, value: str) -> list[str]:
    if name in _HEADER_OPTIONS:
        return [*_keys_of_headers(value)]
    if name in _SHORT_OPTIONS:
        return [value] if is_key_like(value) and not _is_path(value) else []
    within = [*_keys_within(value)]
    if within:
        return within
    parts = [value] if _is_key(name, value) else []
    if len(listed := _LISTED.split(value)) > 1:
        parts = [each for each in listed if _is_key(name, each)] or parts
    return parts


def _is_key(name: str, value: str) -> bool:
    if len(value) < _SHORTEST or name.lower() in _OWN_FOLDERS or _is_path(value):
        return False
    raw, data = name.encode("utf-8", "surrogateescape"), value.encode("utf-8", "surrogateescape")
    if is_secret_name(raw) and is_secret_value(raw, data):
        return True
    segments = [each.removesuffix("s") for each in _SEGMENTS.findall(name.lower())]
    segments = [each + "s" if each == "pas" else each for each in segments]
    if not segments:
        return False
    if segments[-1] in _SURE:
        return True
    if segments[-1] in _LIKELY or segments[-1].endswith(_ENDINGS):
        return is_token(data) or is_key_like(value)
    # A word after it says which one it is (`_PROD`), or that it is none (`TOKEN_LIMIT`).
    return not (_LIKELY | _SURE).isdisjoint(segments) and is_key_like(value)


def _keys_within(value: str) -> Iterator[str]:
    """Keys that the value holds, whatever it is called."""
    text = value[:_LONGEST]
    for user in _URL_USER.findall(text):
        login, colon, password = user.partition(":")
        if len(password) >= _SHORTEST_PASSWORD:
            yield unquote(password)
        if is_key_like(login) and not colon:
            yield login
    if "hooks." in text or "webhook" in text:
        yield from (each for each in _URL_PARTS.split(text) if is_key_like(each))
    if text.lstrip()[:1] in ("{", "["):
        yield from _keys_in_json(text)
    elif ":" in text or "=" in text:
        yield from _keys_of_headers(text)
    data = text.encode("utf-8", "surrogateescape")
    for span in find_credentials(data):
        yield data[span.start : span.stop].decode("utf-8", "surrogateescape")


def _keys_of_headers(text: str) -> Iterator[str]:
    """Values of headers with telling names, a line or a comma between two."""
    for line in re.split(r"[\n,]", text):
        match = _HEADER.fullmatch(line)
        if match is not None and names_secret_header(match[1]):
            yield from (each for each in match[2].split() if len(each) >= _SHORTEST)


def _keys_in_json(text: str) -> Iterator[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[str, Any]] = [("", found)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(name, each) for each in value]
        elif isinstance(value, str) and (_is_key(name, value) or names_secret_header(name)):
            yield value


def _is_path(value: str) -> bool:
    """A name may tell where a key is, and `PWD` shows where the user is."""
    if value.startswith(("./", "../", "~/", "/tmp/", "/run/", "/var/", "/home/")):  # noqa: S108
        return True
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False
