"""The harness protocol, version 1: JSON lines between the toolkit and an adapter.

Every line is checked against `schemas/harness.schema.json`, in both directions. What an adapter
writes that is no answer of the protocol is a HarnessError with the line shown: it says nothing of
the client behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import jsonschema_rs
from msgspec import Struct

from conformance.core.errors import AdapterError, HarnessError
from conformance.core.events import Request
from conformance.core.excerpts import beginning
from conformance.rules.forms.differences import view
from conformance.rules.forms.gathered_side import MERGED_FIELDS
from conformance.rules.schema_faults import schema_fault

VERSION: Final = 1
STREAM: Final = "stream"
NEXT_REQUEST: Final = "next_request"
EXTRACT: Final = "extract"
RESTORE: Final = "restore"
STORE: Final = "store"
MOST_SHOWN: Final = 200  # characters of a line in a message
_STRAY_HINT: Final = "only answers may go to stdout; see docs/clients.md"
_FORM_HINT: Final = "conformance schema harness prints the form of each answer"


class ClientImplementation(Struct, frozen=True):
    """What an adapter says of the client behind it.

    `normalises_finish`: it may report `tool_calls` wherever there are calls, whatever was sent.
    """

    name: str
    language: str
    version: str
    dialects: tuple[str, ...]
    ops: frozenset[str]
    events: frozenset[str]
    features: frozenset[str] = frozenset()
    normalises_finish: bool = False

    @property
    def target(self) -> str:
        """Its name in reports and baselines."""
        return f"{self.name}-{self.version}"

    def plain(self) -> dict[str, Any]:
        """As the header of a recording holds it."""
        return {
            "name": self.name,
            "language": self.language,
            "version": self.version,
            "events": sorted(self.events),
        }


def encode_command(command: Mapping[str, Any]) -> bytes:
    """The line of a command. Raises HarnessError where it is none of the protocol."""
    _check_schema(command, "command")
    # ASCII: a lone surrogate of a recording must not end the run.
    return json.dumps(command).encode() + b"\n"


def decode_answer(line: bytes) -> Mapping[str, Any]:
    """An adapter's line, read. Raises HarnessError with the line where it is no answer."""
    try:
        value = _decode_line(line)
    except (ValueError, RecursionError):
        raise stray_line(line, "it is not JSON") from None
    if not isinstance(value, dict):
        raise stray_line(line, "it is no JSON object")
    _check_schema(value, "answer", line)
    return value


def stray_line(line: bytes, why: str, hint: str = _STRAY_HINT) -> AdapterError:
    """What to raise for a line on stdout that is no answer."""
    shown = beginning(line.decode("utf-8", "replace"), MOST_SHOWN, "")
    return AdapterError(f"the adapter wrote {shown!r}: {why}", hint=hint)


def read_introduction(value: Mapping[str, Any]) -> ClientImplementation:
    """The answer to `start`. Raises HarnessError where the adapter speaks another version."""
    about = value.get("implementation")
    if not isinstance(about, Mapping):
        shown = beginning(json.dumps(value), MOST_SHOWN, "")
        raise AdapterError(f"the adapter does not speak version {VERSION}: {shown}")
    return ClientImplementation(
        name=about["name"],
        language=about["language"],
        version=about["version"],
        dialects=tuple(about["dialects"]),
        ops=frozenset(about["ops"]),
        events=frozenset(about["events"]),
        features=frozenset(about.get("features", ())),
        normalises_finish=about.get("finish") != "as-sent",
    )


def request_of(given: Mapping[str, Any]) -> Request:
    """The request of a `next_request`, as a recording would hold it."""
    headers = tuple((name, value) for name, value in given.get("headers", ()))
    return Request(given.get("method", "POST"), given.get("path", ""), headers, given["json"])


def _decode_line(line: bytes) -> Any:
    """The value of a line; half a surrogate pair, which JSON can spell, becomes a question mark."""
    value = json.loads(line.decode())
    if b"\\ud" not in line.lower():
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _check_schema(value: Any, kind: str, line: bytes | None = None) -> None:
    validator = _schema_validator(kind)
    if validator.is_valid(value):
        return
    why = _schema_fault(value, kind)
    if line is not None:
        hint = _FORM_HINT if "seq" in value else _STRAY_HINT
        raise stray_line(line, why, hint)
    raise HarnessError(f"our own command breaks the protocol: {why}")


def _schema_fault(value: Mapping[str, Any], kind: str) -> str:
    """What is wrong, by the one form that the message seems to have."""
    if kind == "command":
        name = str(value.get("cmd"))
    else:
        name = next((_FORMS[key] for key in _FORMS if key in value), "")
    if not name:
        return f"expected one of {', '.join(key for key in _FORMS if key != 'implementation')}"
    try:
        error = next(iter(_schema_validator(name).iter_errors(value)), None)
    except UnicodeEncodeError:
        return "it holds a text that is not Unicode"
    if error is None:
        return "it is no known answer"
    fault = schema_fault(error, view)
    found_value = f"expected {fault.wanted}, got {view(fault.value)}"
    return f"{fault.path}: {found_value}" if fault.path else found_value


@cache
def event_fields() -> frozenset[str]:
    """The fields of an event that the protocol names, or that are compared, and no others."""
    return frozenset(_harness_schema()["$defs"]["event"]["properties"]) | frozenset(MERGED_FIELDS)


_FORMS: Final = {
    "event": "reported",
    "end": "ended",
    "skipped": "skipped",
    "errored": "errored",
    "request": "requested",
    "events": "told",
    "stored": "kept",
    "implementation": "introduction",
}


@cache
def _schema_validator(kind: str) -> jsonschema_rs.Validator:
    definitions = _harness_schema()["$defs"]
    return jsonschema_rs.validator_for({"$ref": f"#/$defs/{kind}", "$defs": definitions})


@cache
def _harness_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(
        (files("conformance.schemas") / "harness.schema.json").read_bytes()
    )
    return schema
