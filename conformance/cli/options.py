"""Options that several verbs share, word for word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

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
from conformance.cli.terminal import warn
from conformance.core.configuration import CONFIGURATION
from conformance.core.errors import UsageError
from conformance.judging.result import Report
from conformance.recordings.trust import configured_trust, trusted_paths

_SUFFIXES: Final = (".yaml", ".yml")
_MISTAKES: Final = 5  # of one file that are shown


def _warn_mistakes(named: str | list[str] | None) -> str | list[str] | None:
    """Says what is wrong in files of one's own: a mistyped name there would look like a PASS."""
    paths = [Path(each) for each in ([named] if isinstance(named, str) else named or [])]
    for path in paths:
        if path.suffix in _SUFFIXES and path.is_file():
            from conformance.linting import mistakes_in  # noqa: PLC0415  # few name such files

            for each in mistakes_in(path)[:_MISTAKES]:
                warn(f"warning: {each.place}: {each.message} (see conformance lint)")
    return named


SuiteOption = Annotated[
    list[str] | None,
    typer.Option(
        callback=_warn_mistakes,
        help="Suite id, group, file or folder; repeatable; default: shipped (all that come"
        " with this tool).",
        autocompletion=complete_suite,
    ),
]
DialectOption = Annotated[
    str | None,
    typer.Option(
        help="Wire grammar; default: as the recording states, else recognised from its bytes.",
        autocompletion=complete_dialect,
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        callback=_warn_mistakes,
        help="Profile: a name or a YAML file; default: as recorded, else identified, else strict.",
        autocompletion=complete_profile,
    ),
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Only rules whose id, or last part of the id, matches this glob; repeatable.",
        autocompletion=complete_rule,
    ),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--rules-as-of",
        metavar="VERSION",
        help="Leave out rules that are newer than this version; default: none.",
    ),
]
ExpectedOption = Annotated[
    Path | None,
    typer.Option("--expected-failures", metavar="FILE", help="Baseline of known violations."),
]
TrustOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--trust",
        metavar="PATH",
        help="Believe what recordings in this path state of themselves; repeatable; default:"
        " trust in conformance.yaml.",
    ),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit 1 for a violated SHOULD, too.")]
ExercisedOption = Annotated[
    bool, typer.Option("--require-exercised", help="Exit 1 for a rule that nothing exercised, too.")
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format on stdout: text, json, junit, sarif, github, markdown, html or badge.",
    ),
]
TextOrJsonOption = Annotated[str, typer.Option("--format", help="text or json.")]
OutputsOption = Annotated[
    list[str] | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FORMAT=FILE",
        help="Also write this format to a file; repeatable.",
    ),
]
VerboseOption = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Show all findings in full and a verdict for each rule."),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Also answer requests for this host name (localhost and addresses are always"
        " answered); repeatable.",
    ),
]
AllowOriginOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ORIGIN",
        help="Also answer browser pages of this origin (those of this machine are always"
        " answered); repeatable.",
    ),
]
PortFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the port to this file once it listens.")
]
TargetOption = Annotated[
    str,
    typer.Option(
        metavar="NAME-VERSION",
        help="A target of conformance.yaml; with an option that says what to test, only its"
        " name, for baselines.",
        autocompletion=complete_target,
    ),
]
TokensOption = Annotated[
    int,
    typer.Option("--max-tokens", min=16, help="Token limit of each answer whose step sets none."),
]
TimeoutOption = Annotated[
    float, typer.Option(min=0.1, help="Seconds that a whole exchange may take.")
]
BytesOption = Annotated[
    int, typer.Option("--max-bytes", min=1, help="Read at most this many bytes of one answer.")
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option(
        "-H", "--header", metavar="'NAME: VALUE'", help="Send this header, too; repeatable."
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--api-key-env", metavar="NAME", help="Environment variable that holds the API key."
    ),
]
KeyHeaderOption = Annotated[
    str | None,
    typer.Option(
        "--api-key-header", metavar="NAME", help="Header for the key; default: the API's own."
    ),
]
HeaderEnvOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'NAME: VARIABLE'",
        help="Send this header, with the value of an environment variable; repeatable.",
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
    Path | None,
    typer.Option(
        metavar="FILE", help="Certificates to trust (PEM), for a server with a private CA."
    ),
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Do not verify the server's certificate.")
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
