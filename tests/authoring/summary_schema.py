"""Writes the JSON Schema of summaries of saved runs, from the types that read them.

python -m tests.authoring.summary_schema
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Final

import msgspec

import conformance.schemas
from conformance.board.summary import RunSummary
from conformance.rules.verdicts import Verdict

_LINK: Final = r"""^(https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][^\s"'<>\\]*)?)?$"""
FILE: Final = Path(conformance.schemas.__file__).with_name("run.schema.json")


def schema_text() -> str:
    """The schema as the file has it.

    What the reader checks without the types is added: the version of the report, the link.
    """
    described = msgspec.json.schema(RunSummary)
    for each in described["$defs"].values():
        if "description" in each:
            each["description"] = inspect.cleandoc(each["description"])
    fields = described["$defs"]["RunSummary"]["properties"]
    fields["report"]["pattern"] = r"^1(\.|$)"
    fields["link"]["pattern"] = _LINK
    counts = fields["families"]["additionalProperties"]
    counts.pop("propertyNames", None)  # msgspec states it from 0.23 on, in another place
    counts["propertyNames"] = {"enum": list(Verdict)}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Summary of a saved run, as the board has it",
    }
    return json.dumps({**head, **described}, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
