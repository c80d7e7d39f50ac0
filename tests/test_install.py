"""Environments come from the locks, and a step that fails says in one line what to do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
LOCKS = {
    "base": PROJECT["project"]["dependencies"],
    "build": [
        *PROJECT["build-system"]["requires"],
        *PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["dependencies"],
    ],
    "dev": [
        *PROJECT["project"]["dependencies"],
        *PROJECT["build-system"]["requires"],
        *(each for name in ("dev", "reference", "oracles", "bench") for each in EXTRAS[name]),
    ],
}
SUPPORTED = ("3.11", "3.12", "3.13")


def script(name: str) -> ModuleType:
    spec = spec_from_file_location(name, ROOT / "requirements" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


INSTALL = script("install")


def locked(name: str, python: str) -> dict[str, str]:
    """The version that a lock names for each package on Linux under one Python."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    where = {
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    found = {}
    for line in re.findall(r"^[a-z].*(?= \\$)", text, re.MULTILINE):
        each = Requirement(line)
        if each.marker is None or each.marker.evaluate(where):
            assert each.name not in found, "one version for one environment"
            found[each.name] = str(each.specifier).removeprefix("==")
    return found


@pytest.mark.parametrize("python", SUPPORTED)
@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_what_the_project_asks_for(name: str, python: str) -> None:
    found = locked(name, python)
    wanted = [Requirement(each) for each in LOCKS[name]]
    lacking = [
        str(each)
        for each in wanted
        if canonicalize_name(each.name) != "torch"  # see TORCH in the Makefile
        and not each.specifier.contains(found.get(canonicalize_name(each.name), "0"))
    ]
    assert lacking == [], "stale: make lock"


@pytest.mark.parametrize("name", ["base", "build", "dev", "site"])
def test_a_lock_has_hashes_and_names_no_index(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    pinned = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert pinned
    assert [each.split()[0] for each in pinned if "--hash=sha256:" not in each] == []
    assert not re.search(r"https?://|--index|--find-links", text)


def test_environments_agree_about_what_they_share() -> None:
    dev = locked("dev", "3.11")
    for name in ("base", "build"):
        other = locked(name, "3.11")
        assert {each: dev.get(each) for each in other} == other, name


UNREACHED = """WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'
ERROR: Could not find a version that satisfies the requirement rich==15.0.0 (from versions: none)
ERROR: No matching distribution found for rich==15.0.0
"""
MISSING = """ERROR: Could not find a version that satisfies the requirement {0} (from versions: 1)
ERROR: No matching distribution found for {0}
"""
ALTERED = """ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.
    h11==0.16.0 from file:///a/h11-0.16.0-py3-none-any.whl (from -r base.txt (line 5)):
        Expected sha256 00
"""


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        (UNREACHED, "rich==15.0.0: no package index answers; connect, or"),
        (MISSING.format("rich==15.0.0"), "rich==15.0.0: the index lacks it for this Python; set"),
        (MISSING.format("torch==9"), "torch==9: the index has no such build; name one that"),
        (ALTERED, "h11==0.16.0: the index gives other bytes than the lock names"),
        ("WARNING: SSLError(CERTIFICATE_VERIFY_FAILED)\n" + UNREACHED, "rich==15.0.0: the cert"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "a package: the disk is"),
        ("WARNING: x\nERROR: Failed building wheel for a\n", "Failed building wheel for a"),
        ("", "no message"),
    ],
)
def test_a_failure_is_one_line_that_says_what_to_do(printed: str, line: str) -> None:
    explained = INSTALL._explained(printed)
    assert explained.startswith(line)
    assert "\n" not in explained


@pytest.mark.slow
def test_without_an_index_make_says_which_package_and_what_to_do(tmp_path: Path) -> None:
    """A real pip, and an index at a port where nothing listens."""
    lock = tmp_path / "a lock.txt"
    lock.write_text(f"h11==0.16.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    hidden = {"PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"}
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "requirements" / "install.py")),
            *(str(tmp_path / "an environment"), "--lock", str(lock)),
        ],
        env={
            **{name: value for name, value in os.environ.items() if name not in hidden},
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
            "PIP_RETRIES": "1",
            "HOME": str(tmp_path / "no home"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("cannot install ")
    assert "h11==0.16.0: no package index answers; connect, or" in line
