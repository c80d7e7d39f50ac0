"""What a gateway's request upstream keeps of the words around the history: instructions and tools.

Rule 1: instructions may stand anywhere in the request, for some models take none. A gateway adds
        none of its own, except where tools are offered or a form of the answer is asked: there a
        text may say how to keep to it, and without instructions of the client nothing is judged.
Rule 2: a tool keeps its description, and each parameter its description and its type. Words may
        stand next to a description. A type may be spelled in capitals, be null as well, or be a
        number for an integer.
Rule 3: sealed thinking counts where the upstream API has to be asked for it, and keeps nothing.
Rule 4: JSON counts where the upstream API has a place for it. A call of one function that takes the
        schema asks for it, too. Of a schema no property is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.json_values import all_texts
from conformance.dialects.given_before import instruction_texts
from conformance.dialects.repeated_answers import is_within
from conformance.evidence.comparable_requests import (
    NONE,
    PLAIN_NAME,
    ComparableRequest,
    Found,
    Lost,
    is_kept,
    shortened,
    wish_of,
)
from conformance.judging.tool_schema import ToolText, parameter_texts
from conformance.rules.forms.differences import view

_NUMBERS: Final = frozenset({"number", "integer"})


def instructions(given: ComparableRequest, passed: ComparableRequest) -> Found:
    """Rule 1."""
    if is_kept(given) or is_kept(passed):
        return False
    wanted, got = (" ".join(instruction_texts(side.body, side.form)) for side in (given, passed))
    if not is_within(wanted, got) and not is_within(wanted, " ".join(all_texts(passed.body))):
        return Lost(f"the instructions {view(shortened(wanted))}", view(shortened(got)) or NONE)
    own = "".join(got.split()).replace("".join(wanted.split()), "", 1)
    is_free = given.tools is not None or wish_of(given).is_structured
    if own and not is_free:
        return Lost("no other instructions", view(shortened(got)))
    return bool(wanted) or not is_free


def tool_texts(given: ComparableRequest, passed: ComparableRequest) -> Found:
    """Rule 2; functions that are not there are another rule's."""
    offered, through = given.tools, passed.tools
    if offered is None or through is None:
        return False
    names = [name for name in offered.names & through.names if PLAIN_NAME.fullmatch(name)]
    for name in sorted(names):
        wanted, got = offered.text(name), through.text(name)
        if not is_within(wanted, got):
            return Lost(f"{name} described as {view(shortened(wanted))}", view(shortened(got)))
        ours, theirs = (parameter_texts(each.schema(name)) for each in (offered, through))
        for key, each in ours.items():
            if key in theirs and (lost := _changed(f"{name}.{key}", each, theirs[key])):
                return lost
    return any(offered.text(name) or parameter_texts(offered.schema(name)) for name in names)


def _changed(name: str, wanted: ToolText, got: ToolText) -> Lost | None:
    if not is_within(wanted.says, got.says):
        return Lost(f"{name} described as {view(shortened(wanted.says))}", view(got.says))
    if wanted.type and got.type and wanted.type != got.type and {wanted.type, got.type} != _NUMBERS:
        return Lost(f"{name} of the type {wanted.type}", shortened(got.type))
    return None


def sealed(given: ComparableRequest, passed: ComparableRequest) -> Found:
    """Rule 3."""
    script = passed.dialect.script
    is_opt_in = script is not None and bool(script.wishes.sealed[0])
    if not wish_of(given).is_sealed or not is_opt_in or is_kept(passed):
        return False
    return wish_of(passed).is_sealed or Lost("a wish for encrypted thinking", NONE)


def answer_format(given: ComparableRequest, passed: ComparableRequest) -> Found:
    """Rule 4."""
    script = passed.dialect.script
    wanted, got = wish_of(given).schema, wish_of(passed)
    if wanted is None or script is None or not (script.wishes.schemas or script.wishes.json):
        return False
    if not got.is_structured:
        return Lost(f"JSON by {view(wanted)}" if wanted else "JSON", NONE)
    lost = sorted(_properties(wanted) - _properties(got.schema)) if got.schema else []
    return Lost(f"the property {shortened(lost[0])} of the JSON", NONE) if lost else True


def _properties(schema: Mapping[str, Any] | None) -> set[str]:
    named = (schema or {}).get("properties")
    return {str(each) for each in named} if isinstance(named, Mapping) else set()
