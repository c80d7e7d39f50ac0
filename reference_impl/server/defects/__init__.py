"""Named defects: each switches exactly one fault on, so that a checker is proved live.

`defects.toml` has them all.

The rules of a defect are those that fail over a full set of requests (thinking, tools, a summary,
a length cut, as stream and as body): what catches it, and every rule that fails in its wake. A
defect that shows under load only has none. `every` stands for all APIs in which a fault of the
model's answer shows, `text` for those of them whose streams are text.

A defect is an edit of events (`lost`, `doubled`, `edited`), or code: the function of its name in
the module that `at` names. With `streams`, no body is put together of what an edit gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec

from . import edits, events, frames, wires
from .defect import EVERY_API, TEXT_APIS, Api, Scene, ServerDefect, hooked

__all__ = ["DEFECTS", "Api", "Scene", "ServerDefect", "hooked"]

_GROUPS: Final = {"every": EVERY_API, "text": TEXT_APIS}
_MODULES: Final[Mapping[str, ModuleType]] = {"events": events, "wires": wires, "frames": frames}


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One defect as the file has it."""

    says: str
    rules: dict[str, tuple[str, ...]] = {}
    live: tuple[str, ...] = ()
    at: str = "wires"
    lost: edits.Claim | None = None
    doubled: edits.Claim | None = None
    edited: edits.Edit | None = None

    def defect(self, name: str) -> ServerDefect:
        hook = {self.at: self._hook(name)}
        return ServerDefect(name, self.says, self._rules(), live=self.live, **hook)

    def _rules(self) -> Mapping[Api, tuple[str, ...]]:
        listed: dict[Any, tuple[str, ...]] = {}
        for api, rules in self.rules.items():
            listed |= dict.fromkeys(_GROUPS.get(api, (api,)), rules)
        return listed

    def _hook(self, name: str) -> Any:
        if self.lost is not None:
            return edits.lost(self.lost)
        if self.doubled is not None:
            return edits.doubled(self.doubled)
        if self.edited is not None:
            return edits.edited(self.edited)
        return getattr(_MODULES[self.at], name.replace("-", "_"))


def _read_defects() -> dict[str, ServerDefect]:
    text = Path(__file__).with_name("defects.toml").read_bytes()
    entries = msgspec.toml.decode(text, type=dict[str, Entry])
    return {name: entry.defect(name) for name, entry in entries.items()}


DEFECTS: Final = _read_defects()
