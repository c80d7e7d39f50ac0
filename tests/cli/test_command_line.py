from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest

from conformance import __version__
from conformance.cli import main, verbs
from conformance.core.errors import (
    CassetteError,
    HarnessError,
    Place,
    RemoteError,
    SpecError,
    UsageError,
)

PYTHON = [sys.executable, "-m", "conformance"]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Declare a verb `fail` that raises the given exception."""

    def declare(error: BaseException) -> None:
        def command() -> None:
            raise error

        module = ModuleType("conformance.cli.fail")
        vars(module)["fail_command"] = command
        monkeypatch.setitem(sys.modules, "conformance.cli.fail", module)
        monkeypatch.setattr(verbs, "VERBS", {**verbs.VERBS, "fail": "Fail."})

    return declare


FAILURES: list[tuple[BaseException, int, str]] = [
    (UsageError("no such profile", hint="did you mean 'x'?"), 2, "error: no such profile (did"),
    (SpecError("expected a map", place=Place("a.yaml", 3, 1)), 2, "error: a.yaml:3:1: expected"),
    (CassetteError("is empty", place=Place("a.cassette.jsonl")), 2, "error: a.cassette.jsonl: is"),
    (RemoteError("connection refused"), 3, "error: connection refused"),
    (HarnessError("the adapter died"), 4, "error: the adapter died"),
    (
        ZeroDivisionError("by zero\nindeed"),
        4,
        "internal error: ZeroDivisionError: by zero\\nindeed",
    ),
    (RecursionError("too deep"), 4, "internal error: RecursionError: too deep"),
]


@pytest.mark.parametrize(("error", "code", "line"), FAILURES)
def test_a_failure_is_one_line_and_a_code(
    error: BaseException,
    code: int,
    line: str,
    failing: Callable[[BaseException], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    failing(error)
    assert main(["fail"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(line)
    assert err.count("\n") == 1


def test_an_interruption_is_130_and_quiet(
    failing: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    failing(KeyboardInterrupt())
    assert main(["fail"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_the_traceback_is_shown_on_request(
    failing: Callable[[BaseException], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONFORMANCE_DEBUG", "1")
    failing(ZeroDivisionError("by zero"))
    assert main(["fail"]) == 4
    assert "Traceback (most recent call last)" in capsys.readouterr().err


WRONG_CALLS: list[tuple[list[str], str]] = [
    (["chek"], "error: there is no verb 'chek' (did you mean 'check'?)"),
    (["\x1b[31m"], "error: there is no verb '\\x1b[31m'"),
    (["schema", "--nope"], "error: No such option"),
    (["schema", "a", "b"], "error: Got unexpected extra argument"),
    (["--nope"], "error: No such option"),
    (["schema", "rapport"], "error: there is no schema 'rapport' (did you mean 'report'?)"),
]


@pytest.mark.parametrize(("arguments", "line"), WRONG_CALLS)
def test_a_wrong_call_is_one_line_and_2(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(line)
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_lists_every_verb(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in verbs.VERBS)


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"conformance {__version__}\n"


@pytest.mark.parametrize("name", verbs.VERBS)
def test_a_verb_is_what_its_line_says(name: str) -> None:
    command = getattr(import_module(f"conformance.cli.{name}"), f"{name}_command")
    assert inspect.getdoc(command) == verbs.VERBS[name]


@pytest.mark.parametrize("name", verbs.VERBS)
def test_every_option_has_help(name: str) -> None:
    # An older typer keeps the help of arguments elsewhere.
    params = verbs.load_verb(name).params
    options = [each for each in params if each.param_type_name == "option" and each.name != "help"]
    assert [option.name for option in options if not option.help] == []


def test_schema_lists_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert "report" in capsys.readouterr().out.split()
    assert main(["schema", "report"]) == 0
    assert json.loads(capsys.readouterr().out)["title"].startswith("Conformance report")


def test_help_imports_no_heavy_module() -> None:
    code = (
        "import sys; from conformance.cli import main; main(['--help']);"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = ("yaml", "httpx", "jsonschema_rs", "msgspec", "torch", "conformance.judging")
    assert [name for name in heavy if f"'{name}'" in done.stderr] == []


def test_a_reader_that_leaves_changes_nothing() -> None:
    with subprocess.Popen(
        [*PYTHON, "schema", "report"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_output_survives_a_narrow_encoding() -> None:
    done = subprocess.run(
        [*PYTHON, "é"], capture_output=True, check=False, env={"PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: there is no verb '\\xe9'")


@pytest.mark.parametrize("verb", ["", "check", "corpus", "corpus check", "record"])
def test_help_has_a_short_name(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb.split(), "-h"]) == 0
    short = capsys.readouterr().out
    assert main([*verb.split(), "--help"]) == 0
    assert short == capsys.readouterr().out
    assert short.startswith(f"Usage: conformance {verb}".rstrip())


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ch", ["check"]),
        ("check --pr", ["--profile"]),
        ("check --dialect openai.c", ["openai.chat"]),
        ("check --profile vll", ["vllm"]),
        ("check --suite wire/chat", ["wire/chat"]),
        ("explain stripping/visible-text/no-m", ["stripping/visible-text/no-markers"]),
        ("report no-mark", ["no-markers"]),
        ("run --scenario thin", ["think"]),
        ("list scen", ["scenarios"]),
        ("corpus ch", ["check"]),
        ("nonsense --x", []),
    ],
)
def test_shells_complete_verbs_options_and_names(
    typed: str,
    offered: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = f"conformance {typed}"
    monkeypatch.setenv("_CONFORMANCE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    with pytest.raises(SystemExit) as ended:
        main([])
    got = capsys.readouterr()
    assert ended.value.code == 0
    assert (got.out.split(), got.err) == (offered, "")
