"""The verbs, declared without importing them.

Each verb is a separate module with a function `<verb>_command`. Help and completion need only
the name and one line, so a verb's module, and everything it needs, is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any, Final, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from conformance.cli.configured import ConfiguredCommand
from conformance.cli.plain_values import PlainCommand, taken_plainly
from conformance.core.errors import UsageError
from conformance.rules.node import nearest

# In the order in which a reader meets them; a test holds the lines against the docstrings.
VERBS: Final[Mapping[str, str]] = {
    "demo": "Judge a shipped good stream and a broken one.",
    "init": "Write a project file, conformance.yaml, for this folder.",
    "check": "Judge recorded streams by the rules, offline.",
    "run": "Judge a live server, gateway, application, agent or client.",
    "baseline": "Write the violations that a target is expected to have.",
    "explain": "Explain a rule: what it demands, its sources, its knobs.",
    "list": "List rules, profiles, dialects, scenarios, systems and more.",
    "inspect": "Show a recorded stream with times, chunks and event numbers.",
    "identify": "Find out which system sent a recording, and its profile.",
    "profile": "Compare profiles with recordings: refresh.",
    "report": "Write a bug report for a finding, or merge reports.",
    "diff": "Show what changed on the wire between two recordings.",
    "record": "Record a server's answers, or a client's traffic as a proxy.",
    "watch": "Show and judge the traffic between a client and a server.",
    "redact": "Remove secrets from recordings, or show where they are.",
    "serve": "Replay recordings to a client, or play a scripted server.",
    "convert": "Turn a recording into another format.",
    "lint": "Check rules, profiles and recordings for mistakes.",
    "test": "Test rules on the examples in their files.",
    "markers": "Show which tokens a model puts around its thinking.",
    "mutate": "Plant defects in a recording; show which rules find them.",
    "corpus": "Judge millions of streams: check, report, sample, inspect.",
    "board": "Show on one page which systems keep which rules.",
    "verify": "Judge a summary's recordings again; show what differs.",
    "schema": "Print a JSON Schema of what this tool reads or writes.",
}

_OWN_TEXTS: Final = frozenset({"demo", "explain", "init", "list", "markers", "schema"})
"""Verbs that read nothing in which a secret of the user could stand."""
_READS_NO_FILE: Final = frozenset({"board", "demo", "init", "markers", "schema", "verify"})
"""Verbs that no key of `conformance.yaml` concerns."""

Arguments = TypeVar("Arguments")


class VerbGroup(TyperGroup):
    """A group whose commands are names until one of them runs."""

    def get_params(self, ctx: Any) -> list[Any]:
        return taken_plainly(super().get_params(ctx))

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, _ctx: Any, cmd_name: str) -> TyperCommand | None:
        line = VERBS.get(cmd_name)
        return None if line is None else TyperCommand(cmd_name, help=line, rich_markup_mode=None)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if ctx.resilient_parsing and args[0] not in VERBS:
            return None, None, []  # a shell asks what could follow a verb that is none
        if args[0] not in VERBS and not args[0].startswith("-"):
            raise UsageError(f"there is no verb {args[0]!r}", hint=nearest(args[0], VERBS))
        name, found, rest = super().resolve_command(ctx, args)
        return name, load_verb(name) if name else found, rest


def load_verb(name: str) -> Any:
    """Import the verb's module and read its options; one with verbs of its own has an app."""
    module = import_module(f"conformance.cli.{name}")
    if own := getattr(module, f"{name}_app", None):
        found = get_command(own)
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        cls = PlainCommand if name in _READS_NO_FILE else ConfiguredCommand
        app.command(name, cls=cls)(getattr(module, f"{name}_command"))
        found = get_command(app)
    _take_options(name, found)
    return found


def _take_options(name: str, verb: Any) -> None:
    """Gives a verb, or its sub-verbs, the options that nearly all verbs share.

    Verbs that quote streams take `--secret`, verbs that read `conformance.yaml` take `--no-config`.
    """
    from conformance.cli.secrets import no_config_option, secret_option  # noqa: PLC0415  # no help needs it

    for each in getattr(verb, "commands", {}).values() or (verb,):
        if name not in _OWN_TEXTS:
            each.params.append(secret_option())
        if name not in _READS_NO_FILE:
            each.params.append(no_config_option())
        taken_plainly(each.params)


def takes_fields_of(
    arguments: Callable[..., Arguments],
) -> Callable[[Callable[[Arguments], None]], Callable[..., None]]:
    """A verb whose options are the fields of a dataclass.

    typer makes options of a function's parameters, and so many parameters would be hard to read.
    """

    def decorate(verb: Callable[[Arguments], None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            verb(arguments(**given))

        command.__doc__ = verb.__doc__
        command.__annotations__ = get_type_hints(arguments, include_extras=True)
        vars(command)["__signature__"] = signature(arguments, eval_str=True)
        return command

    return decorate
