"""JSON Schemas next to a project file, and the comment by which editors find them.

The schemas are not published at an address, so `conformance init` writes them to files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

SCHEMAS: Final = Path(".conformance")
"""The folder of JSON Schemas, next to the file."""
SCHEMA_NAMES: Final = ("project", "suite", "profile", "baseline")


def schema_files() -> Iterator[tuple[Path, bytes]]:
    """The JSON Schemas of what people write, and where they lie."""
    for name in SCHEMA_NAMES:
        shipped = files("conformance.schemas") / f"{name}.schema.json"
        yield SCHEMAS / f"{name}.schema.json", shipped.read_bytes()


def schema_line(name: str, file: Path) -> str:
    """The comment by which editors find the schema of a file; empty where none was written."""
    schema = SCHEMAS / f"{name}.schema.json"
    if not schema.is_file():
        return ""
    path = os.path.relpath(schema.resolve(), file.resolve().parent)
    return f"# yaml-language-server: $schema={Path(path).as_posix()}\n"
