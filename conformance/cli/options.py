"""Options that several verbs share, word for word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SuiteOption = Annotated[
    list[str] | None,
    typer.Option(help="Suite id, group, file or folder; repeatable; default: all shipped."),
]
DialectOption = Annotated[
    str | None, typer.Option(help="Wire grammar; default: the recording's own, or recognised.")
]
RuleOption = Annotated[
    list[str] | None, typer.Option(help="Only rules whose id fits this glob; repeatable.")
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--rules-as-of", metavar="VERSION", help="Leave out rules that are newer; default: none."
    ),
]
ExpectedOption = Annotated[
    Path | None,
    typer.Option(
        "--expected-failures", metavar="FILE", help="Baseline of violations that are known."
    ),
]
RechunkOption = Annotated[
    int,
    typer.Option(min=0, help="Also judge under this many random chunkings; must not matter."),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="A violated SHOULD exits 1 too.")]
ExercisedOption = Annotated[
    bool, typer.Option("--require-exercised", help="A rule that nothing exercised exits 1 too.")
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="What goes to stdout: text, json, junit, sarif, github, markdown, html or badge.",
    ),
]
OutputsOption = Annotated[
    list[str] | None,
    typer.Option("-o", "--output", metavar="FORMAT=FILE", help="Also write this; repeatable."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        help="Profile, by name or YAML file; default: recorded, else identified, else strict."
    ),
]
