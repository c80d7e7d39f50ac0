"""`--secret NAME`, an option of every verb that quotes what others said."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.main import get_command

from conformance.cassette.redaction.own_keys import remember_named


def secret_option() -> Any:
    """The option as a command has it; its value is remembered, and goes to no verb."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(_declare_secret)
    (option,) = get_command(app).params
    return option


def _remember_secrets(names: list[str] | None) -> list[str] | None:
    remember_named(names or ())
    return names


def _declare_secret(
    secret: Annotated[
        list[str] | None,
        typer.Option(
            "--secret",
            metavar="NAME",
            callback=_remember_secrets,
            is_eager=True,
            expose_value=False,
            help="Variable or request header whose value is a secret; repeatable.",
        ),
    ] = None,
) -> None:
    """Never run: typer makes options of parameters."""
    del secret
