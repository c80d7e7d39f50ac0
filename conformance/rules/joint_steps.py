"""States of all rules that share a slice, and the steps between them, as a group remembers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from conformance.rules.forms.base import Act, Letter, Report, State
from conformance.rules.schemas import Check

# The act for the rule at a position, with its bound `perform`.
PlacedAct = tuple[int, Callable[..., Report], Act]


AGES: Final = 1
OPENS: Final = 2


def step_code(letter: Letter, *, ages: bool, opens: bool) -> int:
    """A letter with all its meaning: `ages` for the first of a frame, `opens` with all fields."""
    base = max(letter.code, 0)
    return base | (AGES if ages else 0) | (OPENS if opens else 0)


class JointState:
    """The states of a group's rules in one slice, None for a rule that does not have the slice.

    It caches its successors: by letter, at the beginning of the next frame (`aged`), with another
    part at one position (`replaced`), and where acts made rules fire (`fires`).
    """

    __slots__ = (
        *("aged", "ends", "fired", "fires", "keeps", "parts", "placed", "replaced", "settled"),
        *("steps", "waits"),
    )

    def __init__(self, parts: tuple[State, ...], *, waits: bool, fired: int) -> None:
        self.parts = parts
        self.waits = waits
        self.fired = fired  # a bit for each position
        self.steps: dict[int, JointStep] = {}
        self.settled: dict[bool, JointStep] = {}
        self.replaced: dict[tuple[int, State], JointState] = {}
        self.fires: dict[tuple[int, ...], JointState] = {}
        self.placed: int | None = None
        self.aged: tuple[State, ...] | None = None
        self.ends: tuple[PlacedAct, ...] | None = None
        self.keeps: tuple[tuple[int, Callable[[], Any]], ...] | None = None

    def forget(self) -> None:
        """Lets go of the states that it leads to."""
        self.steps.clear()
        self.settled.clear()
        self.replaced.clear()
        self.fires.clear()


class JointStep(NamedTuple):
    """The next state after a letter, the acts, who opens the slice, and who met a cap.

    `checks` are the questions of acts that ask nothing but the event, `others` the acts without.
    """

    state: JointState
    acts: tuple[PlacedAct, ...]
    rare: bool = False  # there is more to it than that
    opened: tuple[int, ...] = ()
    failed: tuple[tuple[int, str], ...] = ()
    checks: tuple[Check, ...] = ()
    others: tuple[PlacedAct, ...] = ()

    def due(self, data: Mapping[str, Any]) -> tuple[PlacedAct, ...]:
        """The acts that may have something to do: all of them where a check does not hold."""
        try:
            for check in self.checks:
                if not check(data):
                    return self.acts
        except Exception:  # noqa: BLE001  # whose check it is shows when the acts are performed
            return self.acts
        return self.others
