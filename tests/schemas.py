"""The schemas that the package publishes, as validators."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

from conformance import schemas

FOLDER: Final = Path(schemas.__path__[0])


def schema_of(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


@cache
def published_schema(name: str) -> Any:
    loaded = schema_of(name)
    jsonschema_rs.meta.validate(loaded)
    return jsonschema_rs.validator_for(loaded)
