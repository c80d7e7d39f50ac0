"""A scenario as frozen values: steps, each one request, told apart by roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from conformance.errors import Place

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
    "length",
    "no-finish",  # the stream ends well, but nothing says that the answer is over
    "cut",  # the connection breaks inside the answer
    "error",  # an error event inside the answer
    "refused",  # HTTP 400
    "unavailable",  # HTTP 500
)
"""What the toolkit does when it plays the server behind a gateway."""

CAPABILITIES: Final = ("thinking", "tools", "summary", "encrypted", "effort", "models")
"""What a scenario may need; `--without` says what a target lacks."""

PATHS: Final[Mapping[str, str]] = {
    "openai.chat": "/chat/completions",
    "openai.responses": "/responses",
    "anthropic.messages": "/messages",
}

Keep = Literal["kept", "dropped"]


@dataclass(frozen=True, slots=True)
class Carry:
    """How a step carries on an earlier one: its history, the answer, and what comes next.

    `role` is the step whose answer came; `reasoning` says whether its thinking is sent back;
    `result` is what every tool it called gave, `ask` what the user says next.
    """

    role: str
    reasoning: Keep = "kept"
    result: str = ""
    ask: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One request. `bodies` maps a dialect to a template whose `$names` stand for values.

    `ends` are the endings that are right; `thinking` says whether thinking must show (None: it
    may). `promises` name what a profile must declare for the step to be taken. `upstream` is what
    happens behind a gateway meanwhile, and `calls` how often it must ask there (None: as it likes).
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
    upstream: str = ""
    calls: int | None = None

    def path_for(self, dialect: str) -> str:
        """Where the request goes, below the base URL."""
        return self.path or PATHS[dialect]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps in the order in which they are sent. `values` are what templates may name.

    `probes` is a capability that a target has not if it answers all steps as if nothing were wrong.
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

    @property
    def is_for_gateways(self) -> bool:
        """Whether the toolkit must play the server behind the target."""
        return any(step.upstream for step in self.steps)

    def steps_for(self, dialect: str) -> tuple[Step, ...]:
        """The steps that are written for a dialect."""
        return tuple(step for step in self.steps if dialect in step.bodies)
