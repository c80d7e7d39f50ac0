"""A user's own profile, drafted from what one recording showed.

What it writes is loaded like any other profile; the reasons are for its owner to fill in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from conformance.identify.witness import Identity
from conformance.profiles.profile import Profile

_PLAIN: Final = re.compile(r"[a-z][a-z_]*")
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_BECAUSE: Final = "Observed; say here what the system promises."
_ONE_RECORDING: Final = "1 recording"
_DEMANDS: Final = frozenset({"done", "event_lines"})


def draft(name: str, identity: Identity, base: Profile) -> str:
    """YAML of a profile `name` that extends `base` by what the recording showed otherwise.

    Knobs that demand, such as where usage is, are left at `any`: one recording is no promise.
    """
    return "\n".join(_profile_lines(name, identity, base)) + "\n"


def differing(identity: Identity, base: Profile) -> dict[str, Any]:
    """Observed knobs that a profile does not permit: more permissive, or of another kind."""
    return {
        knob: value
        for knob, value in identity.knobs.items()
        if knob in base.declared and not _is_permitted(base, knob, value)
    }


def _is_permitted(base: Profile, knob: str, value: Any) -> bool:
    set_to = base.knobs[knob]
    order = base.declared[knob].values
    if set_to in (value, "any"):
        return True
    if knob in _DEMANDS:
        return bool(set_to == "optional")
    if base.declared[knob].strict == "any" or knob == "raw_event" or value not in order:
        return False
    return order.index(value) <= order.index(set_to)


def _profile_lines(name: str, identity: Identity, base: Profile) -> Iterator[str]:
    yield f"profile: {_spell_value(name)}"
    yield f"dialect: {identity.dialect}"
    yield f"title: {_spell_value(f'{name}, as one recording showed it')}"
    yield f"extends: {base.name}"
    if identity.private:
        yield f"fields: {{thinking: [{', '.join(map(_spell_value, identity.private))}]}}"
    knobs = differing(identity, base)
    if knobs:
        yield "knobs:"
    for knob, value in knobs.items():
        yield f"  {knob}:"
        yield f"    value: {_spell_value(value)}"
        yield f"    because: {_BECAUSE}"
        yield f"    seen: {_ONE_RECORDING}"


def _spell_value(value: Any) -> str:
    """A value as YAML: a plain word, else its JSON, which is YAML too."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
