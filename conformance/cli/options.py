"""Options that several verbs share, word for word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from conformance.cli.completing import (
    complete_dialect,
    complete_profile,
    complete_rule,
    complete_suite,
    complete_target,
)
from conformance.cli.configured import changed_note
from conformance.core.configuration import CONFIGURATION
from conformance.core.errors import UsageError
from conformance.judging.result import Report
from conformance.recordings.trust import configured_trust, trusted_paths

SuiteOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Suite id, group, file or folder; repeatable; default: shipped, which is all of ours.",
        autocompletion=complete_suite,
    ),
]
DialectOption = Annotated[
    str | None,
    typer.Option(
        help="Wire grammar; default: the recording's own, or recognised.",
        autocompletion=complete_dialect,
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        help="Profile, by name or YAML file; default: recorded, else identified, else strict.",
        autocompletion=complete_profile,
    ),
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Only rules whose id, or its last part, fits this glob; repeatable.",
        autocompletion=complete_rule,
    ),
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
TrustOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--trust",
        metavar="PATH",
        help="Recordings there may excuse themselves; repeatable; default: conformance.yaml's.",
    ),
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
TextOrJsonOption = Annotated[str, typer.Option("--format", help="text or json.")]
OutputsOption = Annotated[
    list[str] | None,
    typer.Option("-o", "--output", metavar="FORMAT=FILE", help="Also write this; repeatable."),
]
VerboseOption = Annotated[
    bool, typer.Option("-v", "--verbose", help="All findings in full, a verdict per rule.")
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Also answer requests for this host name; repeatable; always: localhost, addresses.",
    ),
]
AllowOriginOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ORIGIN",
        help="Also answer pages of this origin in a browser; repeatable; always: this machine's.",
    ),
]
PortFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the port there once it listens.")
]
TargetOption = Annotated[
    str,
    typer.Option(
        metavar="NAME-VERSION",
        help="A target of conformance.yaml; with another option that names what to test:"
        " the target's name, for baselines.",
        autocompletion=complete_target,
    ),
]
TokensOption = Annotated[
    int, typer.Option("--max-tokens", min=16, help="Limit of each answer, where a step has none.")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds for a whole exchange.")]
BytesOption = Annotated[int, typer.Option("--max-bytes", min=1, help="Bytes of one answer.")]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option("-H", "--header", metavar="'NAME: VALUE'", help="Send this too; repeatable."),
]
KeyOption = Annotated[
    str | None,
    typer.Option("--api-key-env", metavar="NAME", help="Environment variable with the key."),
]
KeyHeaderOption = Annotated[
    str | None,
    typer.Option(
        "--api-key-header", metavar="NAME", help="Header for the key; default: as the API has it."
    ),
]
HeaderEnvOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'NAME: VARIABLE'",
        help="Send this too, with the value of an environment variable; repeatable.",
    ),
]
AwsRegionOption = Annotated[
    str | None,
    typer.Option(
        metavar="REGION",
        help="Sign requests for AWS with AWS_ACCESS_KEY_ID, ...; needs the extra `bedrock`.",
    ),
]
CacertOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Authorities that vouch for the server, in PEM.")
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Ask a server for which no authority vouches.")
]


def trusted_by(named: Sequence[Path] | None) -> tuple[Path, ...]:
    """What the command line and `conformance.yaml` in this folder name as trusted."""
    return (*trusted_paths(named or ()), *configured_trust(Path()))


def with_config_notes(report: Report, *, trusts: bool = False) -> Report:
    """The report, and what its reader must know of a file that may have come with recordings.

    `trusts` says that the call looks at whom the file trusts.
    """
    trusted = f"{CONFIGURATION} names recordings that may excuse themselves"
    found = (trusted if trusts and configured_trust(Path()) else "", changed_note())
    return replace(report, notes=(*report.notes, *filter(None, found)))


def require_format(given: str, *known: str) -> None:
    """Raises UsageError for a format that a verb does not write."""
    if given not in known:
        *others, last = known
        raise UsageError(f"format must be {', '.join(others)} or {last}, got {given!r}")
