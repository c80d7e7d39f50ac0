"""A scenario as frozen values: steps, each one request, told apart by roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from conformance.core.errors import Place
from conformance.core.events import Exchange
from conformance.dialects import ENDPOINTS
from conformance.scenarios.bodies import compose

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
    "hidden",  # the model thinks and counts it, and shows none of it
    "no-finish",  # the stream ends well, but nothing says that the answer is over
    "cut",  # the connection breaks inside the answer
    "error",  # an error event inside the answer
    "refused",  # HTTP 400
    "unavailable",  # HTTP 500
)
"""What the toolkit does when it plays the server behind a gateway."""

CAPABILITIES: Final = ("thinking", "tools", "summary", "encrypted", "effort", "models")
"""What a scenario may need; `--without` says what a target lacks."""

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
    happens behind a gateway meanwhile, a word for each of its calls, or `recorded`, an exchange
    with its dialect; `calls` is how often it must ask there (None: as it likes). `beside` are
    roles of earlier steps whose requests are sent again at the same time; nobody judges what they
    get. `excused` are rules that what stands behind breaks itself.
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
        return self.path or ENDPOINTS[dialect].path


@dataclass(frozen=True, slots=True)
class Scenario:
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
        return any(step.upstream or step.recorded for step in self.steps)

    def steps_for(self, dialect: str) -> tuple[Step, ...]:
        """The steps that are written for a dialect."""
        return tuple(step for step in self.steps if dialect in step.bodies)
