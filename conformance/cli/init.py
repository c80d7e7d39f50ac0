"""`conformance init`: a project file, from what lies in the folder and what its owner says."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct
from msgspec.structs import replace

from conformance.cli.terminal import put
from conformance.cli.verbs import takes_fields_of
from conformance.core.configuration import CONFIGURATION
from conformance.core.errors import Place, SpecError, UsageError
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.runs.project_draft import FoundFolder, ProjectDraft, look_around, spell_project
from conformance.runs.project_schemas import SCHEMAS, schema_files

_ADAPTERS: Final[Mapping[str, str]] = {"node": "adapter.mjs"}
"""Files of `conformance.adapters`, by the command that runs them."""


class InitArguments(Struct, frozen=True, kw_only=True):
    """The command line as it was given."""

    recordings: Annotated[
        list[str] | None,
        typer.Argument(help="Folders of recordings; default: those found here."),
    ] = None
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Base URL of the server that `run` tests.")
    ] = None
    client: Annotated[
        str | None, typer.Option(metavar="CMD", help="Command of a client's adapter.")
    ] = None
    target: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the target; default: server or client.")
    ] = ""
    api: Annotated[str, typer.Option(help="API of the server: chat, responses, messages.")] = ""
    model: Annotated[str, typer.Option(metavar="ID", help="Model to ask for.")] = ""
    api_key_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable with the server's key.")
    ] = ""
    profile: Annotated[
        str, typer.Option(help="Profile: a name or a YAML file; default: proposed in a comment.")
    ] = ""
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Ask no questions.")] = False
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False
    adapter: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE",
            help="Only write an adapter for a client: adapter.mjs for node.",
        ),
    ] = ""


@takes_fields_of(InitArguments)
def init_command(given: InitArguments) -> None:
    """Write a project file, conformance.yaml, for this folder."""
    if given.adapter:
        _write_adapter(given)
        return
    file = Path(CONFIGURATION)
    if file.exists() and not given.force:
        raise UsageError("already exists", place=Place(CONFIGURATION), hint="--force replaces it")
    if given.url and given.client:
        raise UsageError("--url and --client do not go together", hint="add a target to the file")
    found = look_around()
    if _can_prompt(given):
        given = _prompt_for_options(given, found)
    draft = _project_draft(given, found)
    try:
        text = spell_project(draft)
    except SpecError as err:
        raise UsageError(err.message, hint=err.hint) from err
    _make_folder(SCHEMAS)
    for path, schema in schema_files():
        write_whole(path, schema)
    write_whole(file, text.encode())
    put(visible(f"{CONFIGURATION} is written, its JSON Schemas are in {SCHEMAS}", 400))
    put(visible(f"next: {_next_call(draft)}", 400))


def _write_adapter(given: InitArguments) -> None:
    if given != InitArguments(adapter=given.adapter, force=given.force):
        raise UsageError("--adapter goes with --force alone")
    if given.adapter not in _ADAPTERS:
        hint = f"one of {', '.join(_ADAPTERS)}; other languages are in docs/clients.md"
        raise UsageError(f"there is no adapter for {given.adapter!r}", hint=hint)
    file = Path(_ADAPTERS[given.adapter])
    if file.exists() and not given.force:
        raise UsageError("already exists", place=Place(str(file)), hint="--force replaces it")
    write_whole(file, (files("conformance.adapters") / file.name).read_bytes())
    put(f"{file} is written")
    put(f'next: conformance run --client "{given.adapter} {file}"')


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as err:
        message = f"the folder cannot be made: {err.strerror}"
        raise UsageError(message, place=Place(str(folder))) from err


def _can_prompt(given: InitArguments) -> bool:
    is_plain = given == InitArguments(force=given.force)
    return is_plain and sys.stdin.isatty() and sys.stdout.isatty()


def _prompt_for_options(given: InitArguments, found: FoundFolder) -> InitArguments:
    """What its owner says; an empty answer leaves a thing out."""
    folder = _prompt("Recordings", ", ".join(found.recordings) or "recordings")
    url = _prompt("URL of a server to ask, empty for none")
    key = _prompt("Environment variable with its key, empty for none") if url else ""
    client = "" if url else _prompt("Command of a client's adapter, empty for none")
    shown_by = f" ({found.streams} streams show {found.profile})" if found.profile else ""
    profile = _prompt(f"Profile to judge by, empty to leave it open{shown_by}")
    recordings = [each.strip() for each in folder.split(",") if each.strip()]
    return replace(
        given,
        recordings=recordings,
        url=url or None,
        api_key_env=key,
        client=client or None,
        profile=profile,
    )


def _prompt(question: str, default: str = "") -> str:
    reply = typer.prompt(question, default=default, show_default=bool(default))
    return str(reply).strip()


def _project_draft(given: InitArguments, found: FoundFolder) -> ProjectDraft:
    targets = {"url": given.url, "client": given.client}
    kind = next((key for key, value in targets.items() if value), "")
    companions = {"api": given.api, "model": given.model, "api-key-env": given.api_key_env}
    if not kind and (unused := [f"--{key}" for key, value in companions.items() if value]):
        raise UsageError(f"{unused[0]} goes with --url URL")
    target = {key: value for key, value in {**targets, **companions}.items() if value}
    return ProjectDraft(
        found=found,
        recordings=tuple(given.recordings or found.recordings or ("recordings",)),
        profile=given.profile,
        target_name=given.target or ("client" if kind == "client" else "server"),
        target=target,
    )


def _next_call(draft: ProjectDraft) -> str:
    if draft.found.recordings or not draft.target:
        return "conformance check"
    return f"conformance run --target {draft.target_name}"
