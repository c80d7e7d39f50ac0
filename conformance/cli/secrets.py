"""Options that verbs are given: `--secret NAME` of all that quote others, and `--no-config`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.main import get_command

from conformance.cassette.redaction.own_keys import remember_named


def secret_option() -> Any:
    """The option as a command has it; its value is remembered, and goes to no verb."""
    return _option_of(_declare_secret)


def no_config_option() -> Any:
    """The option as a command has it; `ConfiguredCommand` looks for it, and no verb sees it."""
    return _option_of(_declare_no_config)


def _option_of(declaring: Callable[..., None]) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(declaring)
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


def _declare_no_config(
    no_config: Annotated[
        bool, typer.Option("--no-config", expose_value=False, help="Do not read conformance.yaml.")
    ] = False,
) -> None:
    """Never run, as above."""
    del no_config
