"""Request bodies: bytes to typed values, or a refusal that names the field at fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Protocol, TypeVar

import msgspec
from msgspec import Meta

from .refusal import Refusal
from .turns import function_tool

Fields = dict[str, Any]
Structure = TypeVar("Structure", bound=msgspec.Struct)

Count = Annotated[int, Meta(ge=1, le=2**31)]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Share = Annotated[float, Meta(gt=0, le=1)]
SeedNumber = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
StopString = Annotated[str, Meta(min_length=1, max_length=256)]
StopStrings = Annotated[list[StopString], Meta(max_length=16)]

_PLACE: Final = re.compile(r" - at `\$(.*)`$")


class Sampling(msgspec.Struct, kw_only=True):
    """How tokens are chosen; an API that has other names for a field declares it again."""

    temperature: Temperature | None = None
    top_p: Share | None = None
    seed: SeedNumber | None = None


class TextPart(msgspec.Struct, tag="text"):
    text: str


class RefusalPart(msgspec.Struct, tag="refusal"):
    refusal: str

    @property
    def text(self) -> str:
        return self.refusal


class TypeChoice(msgspec.Struct):
    """A choice by its type."""

    type: str


class EffortChoice(msgspec.Struct):
    effort: str | None = None


class Function(msgspec.Struct):
    name: Annotated[str, Meta(min_length=1)]
    description: str | None = None
    parameters: dict[str, Any] | None = None

    @property
    def declared(self) -> Mapping[str, Any]:
        return function_tool(self.name, self.description or "", self.parameters or {})


class Tool(msgspec.Struct, tag_field="type", tag="function"):
    function: Function

    @property
    def declared(self) -> Mapping[str, Any]:
        return self.function.declared


def decoded(body: bytes) -> Fields:
    """The object that a body holds. Raises Refusal."""
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise Refusal(f"the body is not JSON: {err}", code="invalid_json") from err
    if not isinstance(fields, dict):
        raise Refusal("the body must be a JSON object", code="invalid_json")
    return fields


def typed(fields: Any, kind: type[Structure], within: str = "") -> Structure:
    """Fields as a structure. Raises Refusal with the path of what does not fit, below `within`."""
    try:
        return msgspec.convert(fields, kind)
    except (msgspec.ValidationError, RecursionError) as err:
        message = str(err)
        place = _PLACE.search(message)
        param = (within + (place[1] if place else "")).lstrip(".")
        reason = _PLACE.sub("", message)
        raise Refusal(f"{param}: {reason}" if param else reason, param=param or None) from err


def stops(value: str | list[str] | None) -> tuple[str, ...]:
    """Stop strings, however many were given."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def unsupported(what: str, param: str) -> Refusal:
    """Return the refusal of a field that this server would have to ignore."""
    return Refusal(f"{what} is not supported", param=param, code="unsupported_value")


class DeclaredTool(Protocol):
    @property
    def declared(self) -> Mapping[str, Any]: ...


def offered(
    tools: Iterable[DeclaredTool] | None, choice: Any, param: str
) -> Iterator[Mapping[str, Any]]:
    """The tools that the model may call, by the API's word for it. Raises Refusal."""
    if choice not in (None, "auto", "none"):
        raise unsupported("a forced tool call", param)
    return (tool.declared for tool in (tools if choice != "none" else None) or ())
