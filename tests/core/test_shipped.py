"""Where the shipped data is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.core import shipped
from conformance.core.errors import HarnessError

if TYPE_CHECKING:
    from pathlib import Path


def test_folders_of_a_wheel_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "conformance")
    with pytest.raises(HarnessError, match="folder 'cassettes' is missing"):
        shipped.cassettes()
    (tmp_path / "cassettes").mkdir()
    assert shipped.cassettes() == tmp_path / "cassettes"
    (tmp_path / "conformance" / "_data" / "cassettes").mkdir(parents=True)
    assert shipped.cassettes() == tmp_path / "conformance" / "_data" / "cassettes"


def test_checkout_has_its_specs() -> None:
    assert (shipped.specs() / "profiles").is_dir()


def test_built_values_are_next_to_the_specs_of_a_wheel_and_below_build_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "conformance")
    (tmp_path / "specs").mkdir()
    assert shipped.values_file() == tmp_path / "build" / "values" / shipped.VALUES_NAME
    data = tmp_path / "conformance" / "_data"
    (data / "specs").mkdir(parents=True)
    assert shipped.values_file() == data / shipped.VALUES_NAME
