"""A user's own request as a scenario of one step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.core.errors import Place, UsageError
from conformance.scenarios.model import Scenario, Step

# A user's request may be cut by its own limit or call its own tools: both are ends of an answer.
_ENDS: Final = ("complete", "length", "tools")
_MOST_BYTES: Final = 16 * 1024 * 1024


def own_request(path: Path, dialect: str) -> Scenario:
    """The JSON body in a file, to be sent as it is. Raises UsageError with the file's name."""
    place = Place(str(path))
    try:
        data = path.read_bytes()
        body: Any = msgspec.json.decode(data) if len(data) <= _MOST_BYTES else None
    except OSError as err:
        reason = (err.strerror or str(err)).lower()
        raise UsageError(f"cannot be read: {reason}", place=place) from err
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise UsageError(f"no JSON: {err}", place=place) from err
    if not isinstance(body, dict):
        raise UsageError("expected a JSON object, the body of one request", place=place)
    name = re.sub(r"[^a-z0-9-]+", "-", path.stem.lower()).strip("-") or "request"
    step = Step(role="asked", bodies={dialect: body}, place=place, ends=_ENDS)
    return Scenario(name=name, title=f"The request in {path}", steps=(step,), file=str(path))
