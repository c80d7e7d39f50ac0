"""What `conformance init` finds in a folder, and the file that it makes of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import pytest

from conformance.core.configuration import CONFIGURATION
from conformance.core.errors import SpecError
from conformance.core.shipped import cassettes
from conformance.rules import document
from conformance.runs import project_draft
from conformance.runs.project import read_project
from conformance.runs.project_draft import FoundFolder, ProjectDraft, look_around, spell_project
from conformance.runs.project_schemas import SCHEMA_NAMES, SCHEMAS, schema_files, schema_line

RECORDED: Final = "openai.chat/openai/padding-off.cassette.jsonl"
SUITE: Final = "suite: own\nrules: []\n"


def take(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(cassettes() / RECORDED, target)


def write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert look_around(tmp_path) == FoundFolder()


def test_recordings_rules_and_baselines_are_found(tmp_path: Path) -> None:
    take(tmp_path / "taken/monday/a.cassette.jsonl")
    take(tmp_path / "taken/b.cassette.jsonl")
    take(tmp_path / "z.cassette.jsonl")
    write(tmp_path / "rules/own.yaml", SUITE)
    write(tmp_path / "expected.yaml", "entries: []\n")
    write(tmp_path / "compose.yaml", "services: {}\n")
    write(tmp_path / "broken.yaml", "a: [\n")
    found = look_around(tmp_path)
    assert set(found.recordings) == {".", "taken"}
    assert (found.suites, found.baselines) == (("rules/own.yaml",), ("expected.yaml",))


@pytest.mark.parametrize(
    "below", [".git", "node_modules", "mutants", "a/b/c/d/e"], ids=lambda name: name.strip(".")
)
def test_what_is_hidden_foreign_or_deep_is_left_alone(below: str, tmp_path: Path) -> None:
    take(tmp_path / below / "a.cassette.jsonl")
    write(tmp_path / below / "own.yaml", SUITE)
    assert look_around(tmp_path) == FoundFolder()


def test_names_that_no_text_holds_are_left_alone(tmp_path: Path) -> None:
    for name in (b"\xff", b"a\nb"):
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        take(folder / "a.cassette.jsonl")
    assert look_around(tmp_path) == FoundFolder()


def test_what_waits_for_a_writer_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "own.yaml")
    os.mkfifo(tmp_path / "a.sse")
    found = look_around(tmp_path)
    assert (found.recordings, found.suites, found.profile) == ((".",), (), "")


def test_walk_of_a_folder_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_draft, "_MOST_FILES", 2)
    for name in ("a", "b", "c"):
        write(tmp_path / f"{name}.yaml", SUITE)
    assert look_around(tmp_path).suites == ("a.yaml", "b.yaml")


def test_a_profile_that_streams_show_is_proposed_and_not_named(tmp_path: Path) -> None:
    shutil.copytree(cassettes() / "openai.chat/copilot", tmp_path / "taken")
    found = look_around(tmp_path)
    assert found.profile == "copilot"
    text = spell_project(ProjectDraft(found=found, recordings=found.recordings))
    assert f"# profile: copilot    # shown by {found.streams} of {found.streams} streams" in text
    assert "profile" not in document.parse(text, CONFIGURATION).mapping()


def test_what_is_spelled_is_what_is_read(tmp_path: Path) -> None:
    target = {"url": "http://127.0.0.1:8000/v1", "api-key-env": "MY_KEY"}
    draft = ProjectDraft(
        found=FoundFolder(suites=("rules/own, old.yaml",), baselines=("expected.yaml",)),
        recordings=("recorded",),
        profile="vllm",
        target_name="staging-1.2",
        target=target,
    )
    (tmp_path / CONFIGURATION).write_text(spell_project(draft), encoding="utf-8")
    found = read_project(tmp_path)
    assert {key: setting.value for key, setting in found.settings.items()} == {
        "recordings": ("recorded",),
        "suites": ("shipped", "rules/own, old.yaml"),
        "profile": "vllm",
        "expected-failures": "expected.yaml",
    }
    (read,) = found.targets.values()
    assert {key: setting.value for key, setting in read.settings.items()} == target


def test_what_would_not_be_read_is_not_spelled() -> None:
    with pytest.raises(SpecError, match="leads out"):
        spell_project(ProjectDraft(recordings=("../x",)))


def test_editors_find_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert schema_line("profile", Path("own.yaml")) == ""
    written = dict(schema_files())
    assert set(written) == {SCHEMAS / f"{name}.schema.json" for name in SCHEMA_NAMES}
    SCHEMAS.mkdir()
    for path, text in written.items():
        path.write_bytes(text)
    Path("profiles").mkdir()
    line = "# yaml-language-server: $schema=../.conformance/profile.schema.json\n"
    assert schema_line("profile", Path("profiles/own.yaml")) == line
