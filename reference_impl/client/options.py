"""Options of a case or of the command line, checked, with what each of them means.

effort           off, low, medium, high, max          history    send-back, never, by-model
summary          auto, concise, detailed, none        tools      in the form of Chat Completions
include_thinking whether to ask for hidden thinking   markers    pairs around thinking in text
opened_by_prompt only the close marker is sent        max_tokens most tokens of the answer
temperature, top_p, seed, stop                        sent as they are
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reference_impl.client.ask import Ask
from reference_impl.client.effort import LEVELS, SUMMARIES
from reference_impl.client.markers import Pair
from reference_impl.client.payload import count_of, objects_of
from reference_impl.client.policy import POLICIES
from reference_impl.client.turn import Turn
from reference_impl.client.wire import Reading

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
    """What a case asks for. Raises UnknownOption where something is not known."""

    given: Mapping[str, Any]

    def __post_init__(self) -> None:
        for name, value in self.given.items():
            if name not in KNOWN:
                raise UnknownOption(f"unknown option {name!r}")
            if name in CHOICES and value not in CHOICES[name]:
                raise UnknownOption(f"unknown {name} {value!r}")
            if name in FLAGS and not isinstance(value, bool):
                raise UnknownOption(f"{name} is true or false, got {value!r}")

    def ask(self, model: str, turns: tuple[Turn, ...]) -> Ask:
        """What to ask of a model."""
        given = self.given
        return Ask(
            model,
            turns,
            effort=given.get("effort", "off"),
            summary=given.get("summary"),
            tools=tuple(tool for tool in objects_of(given.get("tools")) if "function" in tool),
            history=given.get("history", "send-back"),
            include_thinking=given.get("include_thinking", False),
            max_tokens=count_of(given.get("max_tokens")),
            sampling={name: given[name] for name in SAMPLING if name in given},
        )

    def reading(self) -> Reading:
        """How to read the answer: an opt-in shows thinking between markers, inside the text."""
        pairs = [_pair(pair) for pair in self.given.get("markers") or ()]
        if not pairs and self.given.get("include_thinking"):
            pairs = list(MARKERS)
        return Reading(tuple(pairs), opened_by_prompt=self.given.get("opened_by_prompt", False))


def _pair(given: Any) -> Pair:
    match given:
        case [str(opens), str(closes)]:
            return opens, closes
    raise UnknownOption(f"a marker pair is two strings, got {given!r}")
