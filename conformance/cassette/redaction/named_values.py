"""Secrets that come after their name in text: `client_secret=V`, `X-Api-Key: V`, `--token V`.

Rule 1: a value is one where it looks drawn (`key_likeness`); after a name that is given to nothing
else, also where it has letters and digits and is no expression of a programming language.
Rule 2: names in JSON are those of `secret_names`: there a value has quotes and no such doubt.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.cassette.redaction.key_likeness import is_key_like

_SURE: Final = (
    rb"(?:(?i:(?:api|subscription|access|private|signing|encryption|account|master|auth|secret)"
    rb"[_-]?key|client[_-]?secret|secret[_-]?access[_-]?key|passw(?:or)?d|passphrase)"
    rb"|(?<![A-Za-z])(?i:secret|pwd))"
)
_LIKELY: Final = (
    rb"(?:(?i:(?:access|refresh|auth|api|session|bearer|id)[_-]?token)"
    rb"|(?<![A-Za-z])(?i:token|auth|authorization|sig|credentials?|pass|pat|cookie))"
)
_NUMBERED: Final = rb"s?(?:[_-]?[0-9]{1,2})?"
_SCHEME: Final = rb"(?:(?i:bearer|basic|token|digest|apikey|bot)[ \t]{1,4})?"
_VALUE: Final = rb"([^\s\"'<>&;,\\()\[\]{}|`]{8,512}+)(?![(\[])"
_MARKS: Final = (
    (b"=", rb"[\"']?[ \t]{0,4}=[ \t]{0,4}"),
    (b": ", rb"'?:[ \t]{1,4}"),
)
_OPTION: Final = rb"[ \t]{1,4}"
_FORM_PART: Final = (
    rb"name=\\?\"?[A-Za-z0-9_.-]{0,40}?(?:%b|%b)%b\\?\"?"
    rb"(?:(?:\r?\n|(?:\\r)?\\n)[A-Za-z-]{1,40}:[^\r\n\\]{0,200}){0,4}"
    rb"(?:(?:\r?\n){2}|(?:(?:\\r)?\\n){2})([^\s\\]{4,4096}+)" % (_SURE, _LIKELY, _NUMBERED)
)
SURE_RULE: Final = "key.named"
LIKELY_RULE: Final = "key.named-likely"
FORM_RULE: Final = "field.form"
RULES: Final = frozenset({SURE_RULE, LIKELY_RULE, FORM_RULE})
PATTERNS: Final = (
    (FORM_RULE, b"name=", _FORM_PART),
    *(
        (rule, hint, name + _NUMBERED + mark + rb"[\"']?" + _SCHEME + rb"[\"']?" + _VALUE)
        for rule, name in ((SURE_RULE, _SURE), (LIKELY_RULE, _LIKELY))
        for hint, mark in _MARKS
    ),
    *(
        (rule, b"-", rb"(?<![A-Za-z0-9])--?(?:[A-Za-z0-9]{1,20}-){0,4}" + name + _OPTION + _VALUE)
        for rule, name in ((SURE_RULE, _SURE), (LIKELY_RULE, _LIKELY))
    ),
)
_NAME: Final = (
    r"(?i:key|secret|pass(?:word|wd|phrase)?|pwd|auth(?:orization)?|token|sig|credentials?|pat"
    r"|cookie)"
)
_COUNT: Final = r"s?(?:[_-]?[0-9]{1,2})?"
_WORD: Final = r"(?:[A-Za-z]{3,6}[ \t]{1,4})?"
_BEGINS: Final = r"[^\s\"'<>&;,\\()\[\]{}|`]{8}"
TELLING: Final = {
    b"name=": r'name=\\?"?[A-Za-z0-9_.-]*' + _NAME,
    b": ": rf"{_NAME}{_COUNT}'?:[ \t]{{1,4}}[\"']?{_WORD}{_BEGINS}",
    b"-": rf"--?[A-Za-z0-9-]*{_NAME}[ \t]{{1,4}}{_BEGINS}",
}
ASSIGNED: Final = rf"{_NAME}{_COUNT}[\"']?[ \t]{{0,4}}=[ \t]{{0,4}}[\"']?{_WORD}{_BEGINS}"
"""The sign of a value after `=`; other patterns share this hint."""
_LETTER_AND_DIGIT: Final = re.compile(r"(?=[^A-Za-z]*[A-Za-z])(?=[^0-9]*[0-9])[^._$]+")


def is_named_secret(rule: str, value: bytes) -> bool:
    text = value.decode("utf-8", "surrogateescape")
    if rule == LIKELY_RULE:
        return is_key_like(text)
    if rule == SURE_RULE:
        return is_key_like(text) or _LETTER_AND_DIGIT.fullmatch(text) is not None
    return True
