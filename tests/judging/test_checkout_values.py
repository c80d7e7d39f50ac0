"""Values that make builds for a checkout: a change of YAML, of code or of Python ends them."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from conformance.core import built_values, shipped, value_file
from conformance.core.built_values import SpecValue, built_value, write_checkout_values
from conformance.judging.building import build_values, spec_values

SUITE = "wire/chat.yaml"
PROFILE = "profiles/openai.chat/strict.yaml"


@pytest.fixture(scope="module")
def values() -> tuple[SpecValue, ...]:
    wanted = {shipped.specs() / SUITE, shipped.specs() / PROFILE}
    return tuple(each for each in spec_values() if each.path in wanted)


@dataclass(frozen=True)
class Checkout:
    """A copy of a few specs with a package of one module, and values that were built of them."""

    root: Path
    values: tuple[SpecValue, ...]

    @property
    def file(self) -> Path:
        return shipped.values_file()

    @property
    def module(self) -> Path:
        return self.root / "conformance" / "made.py"

    def of_suite(self) -> object:
        built_values._read_values.cache_clear()
        return built_value("suite", self.root / "specs" / SUITE)


@pytest.fixture
def checkout(
    values: tuple[SpecValue, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Checkout]:
    for path in (SUITE, PROFILE, "markers.yaml"):
        (tmp_path / "specs" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(shipped.specs() / path, tmp_path / "specs" / path)
    old, new = str(shipped.specs()), tmp_path / "specs"
    made = tmp_path / "conformance" / "made.py"
    made.parent.mkdir()
    made.write_text("MADE = 1\n", encoding="utf-8")
    module = ModuleType("conformance.made")
    module.__file__ = str(made)
    monkeypatch.setitem(sys.modules, "conformance.made", module)
    monkeypatch.setattr(shipped, "_PACKAGE", made.parent)

    def here(path: Path) -> Path:
        return new / path.relative_to(old)

    moved = tuple(
        SpecValue(each.kind, here(each.path), each.value, tuple(map(here, each.others)))
        for each in values
    )
    write_checkout_values(moved)
    yield Checkout(tmp_path, moved)
    built_values._read_values.cache_clear()


def test_what_was_built_is_found_again(checkout: Checkout) -> None:
    assert checkout.file == checkout.root / "build" / "values" / shipped.VALUES_NAME
    assert checkout.of_suite() is not None
    for each in checkout.values:
        assert built_value(each.kind, each.path) == each.value


def edited(path: Path) -> None:
    """Another text of the same length, at the same time."""
    text, before = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(text.replace("a", "b", 1).replace("1", "2"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


@pytest.mark.parametrize(
    "change",
    [
        lambda it: edited(it.root / "specs" / SUITE),
        lambda it: edited(it.module),
        lambda it: it.module.unlink(),
        lambda it: it.file.write_bytes(it.file.read_bytes()[:-1]),
        lambda it: it.file.chmod(0o622),
        lambda it: it.file.unlink(),
    ],
)
def test_any_change_reads_yaml(checkout: Checkout, change: Callable[[Checkout], None]) -> None:
    change(checkout)
    assert checkout.of_suite() is None


@pytest.mark.parametrize(
    ("where", "what"), [(sys, "version"), (built_values, "__version__")], ids=["Python", "package"]
)
def test_of_another_version_none_counts(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, where: object, what: str
) -> None:
    monkeypatch.setattr(where, what, "0.0.9")
    assert checkout.of_suite() is None


def test_a_file_made_for_a_wheel_is_none_of_a_checkout(checkout: Checkout) -> None:
    shutil.rmtree(checkout.root / "specs" / "profiles")
    build_values(checkout.file)
    assert checkout.of_suite() is None


class Planted:
    """What a pickle can name, and what it would run."""

    def __init__(self, called: Callable[..., object], *given: object) -> None:
        self.called, self.given = called, given

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.called, self.given


@pytest.mark.parametrize(
    "planted",
    [
        Planted(os.mkdir, "planted"),
        Planted(built_values._digest_of, "planted"),
        Planted(value_file.replace, Path("planted"), b""),
        Planted(pickle.Unpickler, None),
        (1, 2),
        ("0", "", ()),
        7,
    ],
)
def test_a_sealed_file_runs_no_code_and_is_none(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, planted: object
) -> None:
    monkeypatch.chdir(checkout.root)
    value_file.replace(checkout.file, value_file.sealed(pickle.dumps(planted)))
    assert checkout.of_suite() is None
    assert not Path("planted").exists()


def test_a_file_that_changes_while_values_are_built_leaves_none(checkout: Checkout) -> None:
    def changing() -> Iterator[SpecValue]:
        yield from checkout.values
        edited_now = checkout.root / "specs" / SUITE
        edited_now.write_text(edited_now.read_text(encoding="utf-8") + "\n", encoding="utf-8")

    write_checkout_values(changing())
    assert not checkout.file.exists()


def test_make_builds_them_before_the_tests_where_the_package_looks_for_them() -> None:
    root = shipped.specs().parent
    place = shipped.values_file().relative_to(root).as_posix()
    lines = (root / "Makefile").read_text(encoding="utf-8").splitlines()
    assert f"VALUES := {place}" in lines
    for target in ("test", "test-slow", "tests"):
        assert [each for each in lines if each.startswith(f"{target}: $(VALUES) ")], target
    assert f"make demo {place} " in (root / ".ci" / "run").read_text(encoding="utf-8")
