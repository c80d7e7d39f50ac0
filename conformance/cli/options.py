"""Options that several verbs share, word for word."""

from __future__ import annotations

from typing import Annotated

import typer

SuiteOption = Annotated[
    list[str] | None,
    typer.Option(help="Suite id, group, file or folder; repeatable; default: all shipped."),
]
DialectOption = Annotated[
    str | None, typer.Option(help="Wire grammar; default: the recording's own, or recognised.")
]
ProfileOption = Annotated[
    str | None,
    typer.Option(help="Name or YAML file of a profile; default: the recording's own, or strict."),
]
