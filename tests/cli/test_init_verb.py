"""`conformance init`: a project file without a terminal, and on one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cli import main
from conformance.core.configuration import CONFIGURATION
from conformance.core.shipped import cassettes
from conformance.runs.project import Project, read_project

RECORDED: Final = "openai.chat/openai/padding-off.cassette.jsonl"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").mkdir()
    shutil.copy(cassettes() / RECORDED, "taken")


def values(project: Project) -> dict[str, Any]:
    return {key: setting.value for key, setting in project.settings.items()}


def test_what_lies_there_becomes_a_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert values(read_project()) == {"recordings": ("taken",), "suites": ("shipped",)}
    assert "next: conformance check\n" in capsys.readouterr().out
    text = Path(CONFIGURATION).read_text(encoding="utf-8")
    assert Path(text.partition("$schema=")[2].partition("\n")[0]).is_file()
    assert main(["check"]) == 0


def test_options_name_a_target() -> None:
    call = ["--url", "http://127.0.0.1:8000/v1", "--api-key-env", "MY_KEY", "--target", "staging"]
    assert main(["init", "taken", "--api", "chat", "--profile", "vllm", *call]) == 0
    project = read_project()
    assert values(project)["profile"] == "vllm"
    assert {key: each.value for key, each in project.targets["staging"].settings.items()} == {
        "url": "http://127.0.0.1:8000/v1",
        "api": ("chat",),
        "api-key-env": "MY_KEY",
    }


def test_a_client_is_a_target_too(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree("taken")
    assert main(["init", "--client", "python adapter.py"]) == 0
    assert read_project().targets["client"].settings["client"].value == "python adapter.py"
    assert "next: conformance run --target client\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["../elsewhere"], "error: the path leads out of the folder of this file"),
        (["--url", "http://u:secret@x/"], "error: a URL with a password in it is refused"),
        (["--url", "x", "--client", "y"], "error: --url and --client do not go together"),
        (["--url", "x", "--api-key-env", "sk-secret"], "error: expected the name of a variable"),
        (["--model", "m"], "error: --model goes with --url URL"),
        (["--url", "x", "--target", "a b"], "error: a target's name has letters"),
    ],
)
def test_a_wrong_call_writes_nothing(
    call: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *call]) == 2
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert "secret" not in err
    assert [each.name for each in Path().iterdir()] == ["taken"]


def test_an_adapter_is_written_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--adapter", "node"]) == 0
    assert sorted(path.name for path in Path().iterdir()) == ["adapter.mjs", "taken"]
    assert 'next: conformance run --client "node adapter.mjs"' in capsys.readouterr().out
    Path("adapter.mjs").write_text("// mine", encoding="utf-8")
    assert main(["init", "--adapter", "node"]) == 2
    assert "adapter.mjs: already exists (--force replaces it)" in capsys.readouterr().err
    assert Path("adapter.mjs").read_text(encoding="utf-8") == "// mine"
    assert main(["init", "--adapter", "node", "--force"]) == 0
    assert "export async function serve" in Path("adapter.mjs").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--adapter", "cobol"], "there is no adapter for 'cobol' (one of node; "),
        (["--adapter", "node", "--url", "http://x"], "--adapter goes with --force alone"),
    ],
)
def test_an_adapter_that_is_not_there_is_one_line(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *given]) == 2
    assert message in capsys.readouterr().err
    assert not Path("adapter.mjs").exists()


def test_a_file_that_is_there_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Path(CONFIGURATION).write_text("strict: true\n", encoding="utf-8")
    assert main(["init"]) == 2
    assert "conformance.yaml: already exists (--force replaces it)" in capsys.readouterr().err
    assert values(read_project()) == {"strict": True}
    assert main(["init", "--force"]) == 0
    assert "strict" not in values(read_project())


def test_a_folder_that_cannot_be_made_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".conformance").write_text("", encoding="utf-8")
    assert main(["init"]) == 2
    assert capsys.readouterr().err == (
        "error: .conformance: the folder cannot be made: File exists\n"
    )
    assert not Path(CONFIGURATION).exists()


def answers(monkeypatch: pytest.MonkeyPatch, *said: str) -> list[str]:
    """Answers on a terminal; the questions, as they are asked."""
    questions: list[str] = []
    left = iter(said)

    def prompt(question: str, *, default: str, show_default: bool) -> str:
        del show_default
        questions.append(question)
        return next(left) or default

    monkeypatch.setattr("typer.prompt", prompt)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    return questions


def test_a_terminal_is_prompted(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = answers(monkeypatch, "", "http://127.0.0.1:8000/v1", "MY_KEY", "vllm")
    assert main(["init"]) == 0
    project = read_project()
    assert values(project)["recordings"] == ("taken",)
    assert values(project)["profile"] == "vllm"
    assert project.targets["server"].settings["api-key-env"].value == "MY_KEY"
    assert len(questions) == 4


def test_a_terminal_needs_no_answer_where_options_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(monkeypatch) == []
    assert main(["init", "--yes"]) == 0
    assert main(["init", "taken", "--force"]) == 0
