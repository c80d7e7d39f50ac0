"""What docs/ci.md and the files beside it hand out: GitLab, pre-commit, the container."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.core import shipped
from tests.docs.blocks import blocks_of

ROOT = Path(__file__).parent.parent
HOOKS = {each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
KEPT = shipped.cassettes() / "openai.chat/openai"
KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "PYTHONPATH": str(ROOT),
}


def example(title: str) -> Any:
    return yaml.safe_load(next(e.text for e in blocks_of("docs/ci.md") if e.title == title))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    own = command.replace("conformance ", f"{shlex.quote(sys.executable)} -m conformance ", 1)
    return subprocess.run(
        ["bash", "-e", "-c", own],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_script_for_gitlab_writes_its_artifacts(tmp_path: Path) -> None:
    shutil.copytree(KEPT, tmp_path / "streams")
    job = example(".gitlab-ci.yml")["conformance"]
    install, *script = job["script"]
    assert install == "pip install reasoning-conformance"
    for line in script:
        done = run(line, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    found = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == sorted(found)


def test_the_hooks_of_the_page_are_those_of_the_repository() -> None:
    local = {each["id"]: each for each in example(".pre-commit-config.yaml")["repos"][0]["hooks"]}
    for name, hook in HOOKS.items():
        for key in ("entry", "language", "files"):
            assert local[name][key] == hook[key]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hook", "text", "code"),
    [
        ("conformance-lint", '{"type": "header"', 2),
        ("conformance-lint", "", 0),
        ("conformance-secrets", f'data: {{"key": "{KEY}"}}\n\n', 1),
        ("conformance-secrets", "", 0),
    ],
)
def test_hook_refuses_what_it_is_there_for(hook: str, text: str, code: int, tmp_path: Path) -> None:
    name = "a.sse" if text.startswith("data:") else "a.cassette.jsonl"
    assert re.search(HOOKS[hook]["files"], name)
    if text:
        (tmp_path / name).write_text(text)
    else:
        shutil.copy(next(KEPT.glob("*.cassette.jsonl")), tmp_path / name)
    done = run(f"{HOOKS[hook]['entry']} {name}", tmp_path)
    assert done.returncode == code, done.stdout + done.stderr


def test_the_container_runs_as_no_user() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    last = {line.split()[0]: line for line in lines if line[:1].isupper()}
    user, group = last["USER"].removeprefix("USER ").split(":")
    assert int(user) > 1000
    assert int(group) > 1000
    assert last["ENTRYPOINT"] == 'ENTRYPOINT ["/venv/bin/conformance"]'
    assert lines.index(last["USER"]) > max(n for n, line in enumerate(lines) if "FROM" in line)


def test_the_container_is_given_what_a_wheel_is_built_from() -> None:
    kept = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    project = (ROOT / "pyproject.toml").read_text()
    needed = ["pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE", "conformance"]
    needed += re.findall(r'^(\w+) = "conformance/', project, re.MULTILINE)
    assert [each for each in needed if not any(fnmatch(each, name) for name in kept)] == []
    assert all((ROOT / name).exists() for name in kept)
