"""A scenario as frozen values: steps, each one request, distinguished by roles.

Request bodies are templates, laid over each other, and `$names` in them replaced by values.

Rule 1: a template over another one replaces key by key, mappings within mappings; null takes a
        key away (RFC 7396, JSON Merge Patch).
Rule 2: a string that is `$name` as a whole stands for the value of that name, whatever its type;
        in a list a value that is a list takes the place of the string, element by element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct, field

from conformance.core.errors import Place, UsageError
from conformance.core.events import Exchange
from conformance.dialects import ENDPOINTS

ENDS: Final = (
    "complete",  # the answer came to its end
    "length",  # it was cut by a limit of length, and says so
    "tools",  # it ended by calling tools
    "filtered",
    "refused",  # HTTP 4xx
    "failed",  # HTTP 5xx, or an error in a body or a stream
    "cut",  # the stream ended without an end
)
"""How an exchange can end, in the words of a scenario."""

UPSTREAM: Final = (
    "answer",
    "tools",
    "two-calls",  # two calls of one tool at once
    "length",
    "hidden",  # the model thinks and counts it, and shows none of it
    "plain",  # the model does not think
    "no-finish",  # the stream ends well, but nothing says that the answer is over
    "cut",  # the connection breaks inside the answer
    "error",  # an error event inside the answer
    "refused",  # HTTP 400
    "unavailable",  # HTTP 500
)
"""What the toolkit does when it plays the server behind a gateway."""

BREAKS: Final = (
    "cut",  # the connection breaks
    "ends",  # the stream ends, as if it were whole
    "hangs",  # nothing more comes until the connection is closed
)
"""What happens to a recorded answer inside its thinking."""

CHARACTERS: Final[Mapping[str, tuple[str, str]]] = {
    "line-separator": ("", "\u2028"),  # the end of a line to some readers
    "paragraph-separator": ("", "\u2029"),
    "next-line": ("", "\u0085"),
    "no-break-space": ("", "\u00a0"),
    "byte-order-mark": ("", "\ufeff"),
    "decomposed": ("", "e\u0301"),  # NFC would make one character of it
    "several-bytes": ("", " 二加二 \N{WHITE HEAVY CHECK MARK}\N{KEY} "),
    "white-space": (" \n", " \n\n "),
}
"""What texts lose on their way, by name: at the edges of every text, and in the middle of it."""

JSON_TEXT: Final = "json"
SAYINGS: Final = (*CHARACTERS, JSON_TEXT)
"""What texts of the played model hold, or, by the last of these words, are: JSON."""

CAPABILITIES: Final = (
    *("thinking", "tools", "tool-choice", "stop", "format", "summary", "encrypted", "effort"),
    *("limit", "models"),
)
"""What a scenario may need; `--without` says what a target lacks."""

_NAME: Final = re.compile(r"\$[a-z][a-z0-9_]*")

Keep = Literal["kept", "dropped"]


class Carry(Struct, frozen=True):
    """How a step continues an earlier one: its history, the answer, and what comes next.

    `role` is the step whose answer came; `reasoning` says whether its thinking is sent back;
    `results` are what the calls gave, one after the other (the last one goes on), `ask` is what
    the user says next.
    """

    role: str
    reasoning: Keep = "kept"
    results: tuple[str, ...] = ()
    ask: str = ""


class Step(Struct, frozen=True):
    """One request. `bodies` maps a dialect to a template whose `$names` stand for values.

    `ends` are the endings that are right; `thinking` says whether thinking must show (None: it
    may). `promises` name what a profile must declare for the step to be taken. `upstream` is what
    happens behind a gateway meanwhile, a word for each of its calls, or `recorded`, an exchange
    with its dialect; `calls` is how often it must ask there (None: as it likes). `beside` are
    roles of earlier steps whose requests are sent again at the same time; the answers are not
    judged. `excused` are rules that what comes after breaks itself, `broken` those of them that
    bind. `says` is one of `SAYINGS`, of all texts of the upstream. `behind` are recorded
    exchanges that are given to an application, call by call, by the dialect in which it asks;
    `breaks` is what happens to the last of them inside its thinking. `stops`: the user stops the
    answer once nothing more comes.
    `asks` is what the user says to an application.
    """

    role: str
    bodies: Mapping[str, Any]
    place: Place
    ends: tuple[str, ...] = ("complete",)
    thinking: bool | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    carry: Carry | None = None
    needs: tuple[str, ...] = ()
    promises: tuple[str, ...] = ()
    method: Literal["GET", "POST"] = "POST"
    path: str = ""
    upstream: tuple[str, ...] = ()
    recorded: Exchange | None = None
    calls: int | None = None
    beside: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    says: str = ""
    behind: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    breaks: str = ""
    stops: bool = False
    asks: str = ""

    def body(self, dialect: str, values: Mapping[str, Any]) -> Any:
        """The body to send. Raises UsageError for a name that has no value.

        What a stranger recorded is no template: whatever looks like a name stays.
        """
        template = self.bodies[dialect]
        if self.recorded is not None:
            return {**template, "model": values["model"]}
        return compose(template, values)

    def path_for(self, dialect: str) -> str:
        """Where the request goes, below the base URL."""
        return self.path or (ENDPOINTS[dialect].path if dialect in ENDPOINTS else "")


class Scenario(Struct, frozen=True):
    """Steps in the order in which they are sent. `values` are what templates may name.

    `probes` is a capability that a target has not if it answers all steps as if nothing were wrong.
    `profile` is that of the recording that its steps hold.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    file: str
    needs: tuple[str, ...] = ()
    promises: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    exercises: tuple[str, ...] = ()
    probes: str = ""
    profile: str = ""

    @property
    def is_for_gateways(self) -> bool:
        """Whether the toolkit must play the server behind the target."""
        return any(step.upstream or step.recorded or step.behind for step in self.steps)

    def steps_for(self, dialect: str) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if dialect in step.bodies)


def compose(template: Any, values: Mapping[str, Any]) -> Any:
    """The body with every name replaced. Raises UsageError for a name that has no value."""
    if isinstance(template, Mapping):
        return {key: compose(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [each for item in template for each in _spread_list(item, values)]
    if is_name(template):
        if template[1:] not in values:
            raise UsageError(f"nothing is known for {template}")
        return compose(values[template[1:]], {k: v for k, v in values.items() if k != template[1:]})
    return template


def lay_over(below: Any, patch: Any) -> Any:
    """The template with another one laid over it (rule 1)."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(below) if isinstance(below, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = lay_over(merged.get(key), value)
    return merged


def is_name(value: object) -> bool:
    """Whether a template's value stands for another one."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _spread_list(item: Any, values: Mapping[str, Any]) -> Iterator[Any]:
    value = compose(item, values)
    if is_name(item) and isinstance(value, list):
        yield from value
    else:
        yield value
