"""`conformance run --client CMD`: recordings replayed to a client, what it reports judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from conformance.cli import target_options as live
from conformance.core.errors import UsageError
from conformance.targets.client import ClientOptions, ClientOutcome, run_client

if TYPE_CHECKING:  # it imports this module
    from conformance.cli.run import Asked

DEADLINE: Final = 5.0  # seconds for one case, unless --timeout says otherwise

ClientOption = Annotated[
    str | None,
    typer.Option(
        "--client", metavar="CMD", help="Command of a client's adapter (docs/clients.md)."
    ),
]
CassetteOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH",
        help="Replay this to a client (default: all that ship), or behind a gateway; repeatable.",
    ),
]
CasesOption = Annotated[
    Literal["quick", "full"],
    typer.Option(help="quick: each recording once; full: every chunking, cut and edit too."),
]


def judged(given: Asked, progress: Callable[[str], None]) -> ClientOutcome:
    """Runs the client. Raises UsageError for options that do not go with it."""
    assert given.client is not None
    for name, value in _servers_only(given):
        if value:
            raise UsageError(f"--client and {name} do not go together")
    options = ClientOptions(
        profile=None if given.profile == "auto" else given.profile,
        dialects=live.dialects(given.api or ()),
        suites=tuple(given.suite or ()),
        rules=tuple(given.rule or ()),
        as_of=given.rules_as_of,
        extent=given.cases,
        jobs=given.jobs,
        deadline=given.timeout if given.timeout != live.LIMITS.timeout else DEADLINE,
        save=given.save,
        target=given.target,
    )
    return run_client(given.client, given.cassette or (), options, progress)


def _servers_only(given: Asked) -> Sequence[tuple[str, object]]:
    return (
        ("--url", given.url),
        ("--asgi", given.asgi_app),
        ("--gateway", given.gateway),
        ("--upstream-port", given.upstream_port is not None),
        ("--model", given.model),
        ("--scenario", given.scenario),
        ("--plan", given.show_plan),
    )
