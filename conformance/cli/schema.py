"""`conformance schema`: the JSON Schemas that ship with the tool."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Final

import typer

from conformance.cli.terminal import put
from conformance.core.errors import UsageError
from conformance.rules.node import nearest

_SUFFIX: Final = ".schema.json"


def schema_command(
    name: Annotated[str | None, typer.Argument(help="Which one; default: list them.")] = None,
) -> None:
    """Print a JSON Schema of what this tool reads or writes."""
    known = schema_names()
    if name is None:
        put("\n".join(known))
        return
    if name not in known:
        raise UsageError(
            f"there is no schema {name!r}",
            hint=nearest(name, known) or f"one of {', '.join(known)}",
        )
    put((files("conformance.schemas") / f"{name}{_SUFFIX}").read_text(encoding="utf-8"))


def schema_names() -> list[str]:
    """Names of the shipped schemas, sorted."""
    entries = (entry.name for entry in files("conformance.schemas").iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in entries if name.endswith(_SUFFIX))
