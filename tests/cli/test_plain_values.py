"""Values that are taken as they are: what typer makes of them, without what it imports for that."""

from __future__ import annotations

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperCommand
from typer.main import get_command

from conformance.cli.plain_values import PlainCommand
from conformance.core.shipped import cassettes


class Colour(StrEnum):
    RED = "red"


Taken = dict[str, Any]


def read(arguments: list[str], *, plainly: bool) -> Taken | str:
    """What a verb with options of every kind takes, or how its refusal reads."""
    taken: Taken = {}

    def verb(
        paths: Annotated[list[Path] | None, typer.Argument()] = None,
        here: Annotated[Path, typer.Option()] = Path("here"),
        out: Annotated[Path | None, typer.Option(exists=True)] = None,
        file: Annotated[Path | None, typer.Option(dir_okay=False)] = None,
        name: Annotated[str | None, typer.Option()] = None,
        word: Annotated[str, typer.Option()] = "word",
        many: Annotated[list[str] | None, typer.Option()] = None,
        count: Annotated[int, typer.Option(min=1, max=9)] = 2,
        share: Annotated[float | None, typer.Option()] = None,
        colour: Annotated[Colour, typer.Option()] = Colour.RED,
        strict: Annotated[bool, typer.Option("--strict")] = False,
        parsed: Annotated[int | None, typer.Option(parser=len)] = None,
    ) -> None:
        taken.update(locals())

    app = typer.Typer(add_completion=False)
    app.command(cls=PlainCommand if plainly else TyperCommand)(verb)
    try:
        get_command(app).main(arguments, standalone_mode=False)
    except Exception as error:  # noqa: BLE001  # of whichever kind typer has
        return f"{type(error).__name__}: {error}"
    return {name: value for name, value in taken.items() if name != "taken"}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a", "./b/../c", "-", ""],
        ["."],
        ["--here", ".", "--name", "a b", "--word", "", "--many", "a", "--many", "a"],
        ["--word", "word", "--many", ""],
        ["--name", "\udcff"],
        ["a\0b"],
        ["\udcff.sse"],
        ["--count", "3", "--share", "0.5", "--strict"],
        ["--count", "0"],
        ["--count", "x"],
        ["--share", "x"],
        ["--colour", "red"],
        ["--colour", "blue"],
        ["--out", "missing"],
        ["--out", "."],
        ["--file", "."],
        ["--parsed", "four"],
        ["--unknown"],
    ],
)
def test_values_are_those_that_typer_reads(arguments: list[str]) -> None:
    plain, by_typer = read(arguments, plainly=True), read(arguments, plainly=False)
    assert plain == by_typer
    assert repr(plain) == repr(by_typer)


def test_forbidden_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.access", lambda *_: False)
    for arguments in (["there"], ["missing"], ["--here", "there"]):
        assert read(arguments, plainly=True) == read(arguments, plainly=False)


def test_a_short_check_imports_no_pydantic() -> None:
    stream = next(cassettes().glob("openai.chat/*/*.cassette.jsonl"))
    script = (
        "import sys\n"
        "from conformance.cli import main\n"
        "main(['check', sys.argv[1], '--strict', '--rule', 'wire/*', '--profile', 'strict'])\n"
        "sys.exit('pydantic' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(stream)], check=True, capture_output=True)
