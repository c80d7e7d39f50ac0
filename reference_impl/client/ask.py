"""A request to a model, in no API's spelling.

These are the options of a case or of the command line:

effort           off, low, medium, high, max          history    send-back, never, by-model
summary          auto, concise, detailed, none        tools      in the form of Chat Completions
include_thinking whether to ask for hidden thinking   markers    pairs around thinking in text
opened_by_prompt only the close marker is sent        max_tokens most tokens of the answer
temperature, top_p, seed, stop                        sent as they are

A client that is like a system offers what that system offers, whose history policy is its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from .likeness import LEVELS, POLICIES, REFERENCE, SUMMARIES, Likeness, Policy, sends
from .markers import Pair
from .payload import count_of, objects_of
from .turn import Turn
from .wire import Api, Reading


@dataclass(frozen=True, slots=True)
class Ask:
    """A conversation and how it is to go on.

    `effort` is one of likeness.LEVELS, `summary` one of likeness.SUMMARIES, `none`, or None: as the
    client has it. `tools` are in the form of Chat Completions. `history` is None where the client
    decides. `sampling` goes into the request as it is.
    """

    model: str
    turns: tuple[Turn, ...]
    effort: str = "off"
    summary: str | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    history: Policy | None = None
    include_thinking: bool = False
    max_tokens: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    like: Likeness = REFERENCE

    @property
    def instructions(self) -> str:
        """The system's text, for APIs that have a field for it."""
        return "\n\n".join(turn.text for turn in self.turns if turn.role == "system")

    @property
    def flat_tools(self) -> list[dict[str, Any]]:
        """The tools as Google and Responses have them: without a level of their own."""
        return [{"type": "function", **tool["function"]} for tool in self.tools]

    def rounds(self) -> Iterator[tuple[bool, Iterator[Turn]]]:
        """The turns but those of the system, results of tools together: `True` for such."""
        turns = (turn for turn in self.turns if turn.role != "system")
        return groupby(turns, key=lambda turn: turn.role == "tool")

    def sampled(self, names: Mapping[str, str]) -> dict[str, Any]:
        """The sampling as an API calls it; a lone stop string is a list of one."""
        given = {**self.sampling}
        if isinstance(given.get("stop"), str):
            given["stop"] = [given["stop"]]
        return {names.get(name, name): value for name, value in given.items()}

    @property
    def thinks(self) -> bool:
        return self.effort != "off" and self.like.takes_effort(self.model)

    def sends_thinking(self, api: Api) -> bool:
        policy = self.history or self.like.history[api]
        return sends(policy, self.model, self.like.history_models)


SAMPLING: Final = ("temperature", "top_p", "seed", "stop")
FLAGS: Final = ("include_thinking", "opened_by_prompt")
CHOICES: Final[Mapping[str, Sequence[str | None]]] = {
    "effort": LEVELS,
    "summary": (*SUMMARIES, "none", None),
    "history": POLICIES,
}
KNOWN: Final = frozenset({*CHOICES, *FLAGS, *SAMPLING, "tools", "markers", "max_tokens"})
# What servers wrap thinking in where a request opts in to see it.
MARKERS: Final = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))


class UnknownOption(ValueError):  # noqa: N818  # it names what is unknown
    """An option, or a value of one, that this client does not have."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a case. Raises UnknownOption for one that is not known, or not offered."""

    given: Mapping[str, Any]
    like: Likeness = field(default=REFERENCE)

    def __post_init__(self) -> None:
        for name, value in self.given.items():
            if name not in KNOWN:
                raise UnknownOption(f"unknown option {name!r}")
            if name in CHOICES and value not in CHOICES[name]:
                raise UnknownOption(f"unknown {name} {value!r}")
            if name in FLAGS and not isinstance(value, bool):
                raise UnknownOption(f"{name} is true or false, got {value!r}")
            if value is not None and not self._offers(name, value):
                raise UnknownOption(f"{self.like.name} does not offer {name} {value!r}")

    def _offers(self, name: str, value: Any) -> bool:
        """Whether the client that this one is like has an option, and this value of it."""
        if name == "effort":
            return value in self.like.levels
        if name == "summary":
            return value in self.like.summaries
        return self.like.reads_markers or not value or name not in ("markers", *FLAGS)

    def ask(self, model: str, turns: tuple[Turn, ...]) -> Ask:
        """Return the request. Raises UnknownOption where the level is not for this model."""
        given, like = self.given, self.like
        effort = given.get("effort", like.level(model))
        if not like.offers(effort, model):
            raise UnknownOption(f"{like.name} does not offer effort {effort!r} for {model}")
        return Ask(
            model,
            turns,
            effort=effort,
            summary=given.get("summary"),
            tools=tuple(tool for tool in objects_of(given.get("tools")) if "function" in tool),
            history=given.get("history") if like.offers_history else None,
            include_thinking=given.get("include_thinking", False),
            max_tokens=count_of(given.get("max_tokens")),
            sampling={name: given[name] for name in SAMPLING if name in given},
            like=like,
        )

    def reading(self) -> Reading:
        """How to read the answer: an opt-in shows thinking between markers, inside the text."""
        pairs = [_marker_pair(pair) for pair in self.given.get("markers") or ()]
        if not pairs and self.given.get("include_thinking"):
            pairs = list(MARKERS)
        return Reading(tuple(pairs), opened_by_prompt=self.given.get("opened_by_prompt", False))


def _marker_pair(given: Any) -> Pair:
    match given:
        case [str(opens), str(closes)]:
            return opens, closes
    raise UnknownOption(f"a marker pair is two strings, got {given!r}")
