"""What a recording says it shows: whether a request, a name or a scenario promises thinking."""

from __future__ import annotations

import re
from typing import Any, Final

from conformance.core.events import Request
from conformance.core.json_values import value_at
from conformance.dialects import SUPPORTED
from conformance.dialects.requests import OPT_IN, opts_in

_WORDS: Final = frozenset({"think", "thinks", "thinking", "thought", "thoughts", "reasoning"})
_NEGATIONS: Final = frozenset(
    {
        *("no", "not", "never", "none", "off", "without", "disabled", "declined", "declines"),
        *("excluded", "hidden", "stripped", "omitted", "silent"),
    }
)
_WORD: Final = re.compile(r"[a-z0-9]+")
_OFF: Final = (None, False, 0, "", "none", "minimal", "off", "disabled")
_FORMS: Final = tuple(each.request for each in SUPPORTED.values() if each.request)
# Where requests ask, by path; the value at each is then no `_OFF`.
_ASKING: Final = tuple(path for form in _FORMS for path in form.switches)
_REFUSING: Final = tuple(path for form in _FORMS for path in form.refusals)


def claimed_word(name: str) -> str:
    """The word of a name that promises thinking; empty if none does, or another takes it back."""
    return "" if denies_thinking(name) else _thinking_word(name)


def denies_thinking(name: str) -> bool:
    """Whether a name says that there is no thinking, whatever was requested."""
    return bool(_thinking_word(name)) and not _NEGATIONS.isdisjoint(_WORD.findall(name.lower()))


def _thinking_word(name: str) -> str:
    return next((word for word in _WORD.findall(name.lower()) if word in _WORDS), "")


def thinking_field(request: Request) -> str:
    """The field or header by which a request asks to see thinking; empty if it does not."""
    if opts_in(request):
        return OPT_IN
    if _is_refused(request.json):
        return ""
    return next((path for path in _ASKING if _scalar_at(request.json, path) not in _OFF), "")


def _is_refused(json: Any) -> bool:
    stated = [value for path in _REFUSING if (value := _scalar_at(json, path)) is not None]
    return any(value in _OFF for value in stated) or _scalar_at(json, "reasoning.exclude") is True


def _scalar_at(value: Any, path: str) -> Any:
    found = value_at(value, *path.split("."))
    return None if isinstance(found, dict | list) else found
