"""What a request demands of the answer: JSON, a call or none, where to stop, sealed thinking.

Where each dialect says so is a table of dotted paths: who plays a model reads it, and answers as it
was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.core.json_values import decode_json, value_at
from conformance.dialects.json_edge import elements, mapping, string

ANY_CALL: Final = "*"
"""The name of a call that a request demands without saying of which function."""
_PARAMETERS: Final = ("parameters", "input_schema", "parametersJsonSchema", "parameter_definitions")


class AnswerWish(Struct, frozen=True):
    """What the answer must be.

    `schema` is that of the JSON that is requested, None where prose will do; `call` names the
    function that must be called, or is `ANY_CALL`; `has_single_calls`: no two at once; `stops` are
    texts at which the answer ends;
    `is_sealed`: thinking must come encrypted, too.
    """

    schema: Mapping[str, Any] | None = None
    call: str = ""
    has_no_calls: bool = False
    has_single_calls: bool = False
    stops: tuple[str, ...] = ()
    is_sealed: bool = False

    @property
    def is_structured(self) -> bool:
        """Whether the answer is for a program: JSON, or one call of a function that it names."""
        return self.schema is not None or self.call not in ("", ANY_CALL)


class WishForm(Struct, frozen=True):
    """Dotted paths of a request body, and what is there.

    `schemas` hold a schema, as an object or as text; `json` asks for any JSON where it holds one of
    `json_words`; `choice` holds a word about calls, `any_call` or `no_call`, `any_object` an object
    that demands a call, and `names` the function that must be called. Without `choice` the API has
    no word for it. `single` holds what is at its path where no two calls at once are wanted.
    """

    schemas: tuple[str, ...] = ()
    json: str = ""
    json_words: tuple[str, ...] = ("json_object", "json_schema")
    choice: tuple[str, ...] = ("tool_choice", "tool_choice.type")
    any_call: tuple[str, ...] = ("required", "any")
    no_call: tuple[str, ...] = ("none",)
    any_object: str = ""
    names: tuple[str, ...] = ()
    stops: str = ""
    sealed: tuple[str, str] = ("", "")
    single: tuple[str, bool] = ("parallel_tool_calls", False)

    def read(self, body: Any) -> AnswerWish:
        words = {string(value_at(body, *path.split("."))) for path in self.choice}
        named = next(filter(None, (self._name(body, path) for path in self.names)), "")
        given = value_at(body, *self.any_object.split(".")) if self.any_object else None
        is_any = isinstance(given, Mapping) or bool(words.intersection(self.any_call))
        stops = value_at(body, *self.stops.split(".")) if self.stops else None
        seal, word = self.sealed
        path, unparallel = self.single
        return AnswerWish(
            self._schema(body),
            named or (ANY_CALL if is_any else ""),
            has_no_calls=bool(words.intersection(self.no_call)),
            has_single_calls=value_at(body, *path.split(".")) is unparallel,
            stops=tuple(filter(None, map(string, [stops, *elements(stops)]))),
            is_sealed=bool(seal) and word in elements(mapping(body).get(seal)),
        )

    def _schema(self, body: Any) -> Mapping[str, Any] | None:
        stated = (_as_object(value_at(body, *path.split("."))) for path in self.schemas)
        if (schema := next((each for each in stated if isinstance(each, dict)), None)) is not None:
            return schema
        form = value_at(body, *self.json.split(".")) if self.json else None
        return {} if isinstance(form, str) and form in self.json_words else None

    def _name(self, body: Any, path: str) -> str:
        found = value_at(body, *path.split("."))
        # A list allows several: any of them will do.
        return string(found) or string(next(iter(elements(found)), None))


def _as_object(value: Any) -> Any:
    """A schema; Converse has it as text."""
    return decode_json(value) if isinstance(value, str) else value


class OfferedFunction(Struct, frozen=True):
    """A function that a request offers, and the schema of what it takes."""

    name: str
    parameters: Mapping[str, Any]


def offered_functions(tools: Any) -> Iterator[OfferedFunction]:
    """The functions among the tools of a body, in whichever form a dialect has them."""
    for tool in elements(tools):
        fields = mapping(tool)
        function = mapping(fields.get("function") or fields.get("toolSpec") or fields)
        if name := string(function.get("name")):
            stated = (function.get(key) for key in _PARAMETERS)
            within = value_at(function, "inputSchema", "json")
            found = next((each for each in (*stated, within) if isinstance(each, dict)), {})
            yield OfferedFunction(name, found)
