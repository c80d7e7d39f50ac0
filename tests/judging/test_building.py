"""Values that are built with a wheel: equal to what YAML tells, and gone when it changes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.core import built_values, shipped
from conformance.core.built_values import built_value
from conformance.core.errors import SpecError
from conformance.core.shipped import VALUES_NAME
from conformance.judging import suites
from conformance.judging.building import build_values, spec_values
from conformance.profiles import lookup

SUITE = "wire/chat.yaml"
PROFILE = "profiles/openai.chat/openrouter.yaml"
PARENT = "profiles/openai.chat/strict.yaml"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The values of the checkout's specs, which lie elsewhere than those of a wheel."""
    file = tmp_path_factory.mktemp("built") / VALUES_NAME
    build_values(file)
    return file


@pytest.fixture
def specs(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The specs of an installed wheel."""
    data = tmp_path / "conformance" / "_data"
    shutil.copytree(shipped.specs(), data / "specs")
    shutil.copy(built, data)
    monkeypatch.setattr(shipped, "_PACKAGE", data.parent)
    return data / "specs"


@pytest.mark.every_run
def test_every_value_is_that_of_the_yaml_files_next_to_it(specs: Path) -> None:
    values = list(spec_values())
    assert {each.kind for each in values} == {"suite", "profile", "fingerprints", "markers"}
    for each in values:
        found = built_value(each.kind, each.path)
        assert found == each.value
        # Places and types too: 1 is not True, a list no tuple, and the folder is this one.
        assert repr(found) == repr(each.value)
    assert str(specs) in repr(values)


def test_values_replace_reading_yaml(specs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("YAML is read")

    expected = [each for each in spec_values() if each.kind == "suite"]
    monkeypatch.setattr("conformance.rules.document.load", refuse)
    assert suites.shipped_suites.__wrapped__() == tuple(each.value for each in expected)
    assert lookup.find("openrouter", "openai.chat").file == str(specs / PROFILE)
    assert "openrouter" in {each.profile for each in lookup.fingerprints("openai.chat")}
    assert lookup.find("reference-client/openrouter", "openai.chat").side == "client"


def replaced(text: str) -> str:
    """A text of the same length."""
    return text.replace("a", "b", 1)


@pytest.mark.parametrize(
    ("kind", "path", "change"),
    [
        ("suite", SUITE, replaced),
        ("profile", PROFILE, replaced),
        ("fingerprints", PROFILE, replaced),
        ("suite", SUITE, lambda text: text + "\n"),
    ],
)
def test_a_changed_file_has_no_value(
    specs: Path, kind: str, path: str, change: Callable[[str], str]
) -> None:
    file = specs / path
    assert built_value(kind, file) is not None
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    assert built_value(kind, file) is None


def test_a_profile_falls_with_what_it_extends(specs: Path) -> None:
    parent = specs / PARENT
    parent.write_text(parent.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert built_value("profile", specs / PROFILE) is None
    assert built_value("fingerprints", specs / PROFILE) is not None
    parent.unlink()
    assert built_value("profile", specs / PROFILE) is None


def test_a_mistake_in_a_changed_file_is_reported_with_its_place(specs: Path) -> None:
    (specs / SUITE).write_text("suite: [\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        suites.shipped_suites.__wrapped__()
    assert str(caught.value.place) == f"{specs / SUITE}:2:1"


def test_a_file_that_is_new_is_read_next_to_the_others(specs: Path) -> None:
    file = specs / "wire" / "own.yaml"
    text = (specs / "wire/timing.yaml").read_text(encoding="utf-8")
    file.write_text(text.replace("suite: wire/timing", "suite: wire/own"), encoding="utf-8")
    assert "wire/own" in {suite.id for suite in suites.shipped_suites.__wrapped__()}


def test_other_versions_are_void(specs: Path, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_values, "__version__", "0.0.9")
    build_values(specs.with_name(VALUES_NAME))
    monkeypatch.undo()
    monkeypatch.setattr(shipped, "_PACKAGE", specs.parent.parent)
    assert built_value("suite", specs / SUITE) is None
    shutil.copy(built, specs.parent)
    built_values._read_values.cache_clear()
    assert built_value("suite", specs / SUITE) is not None
