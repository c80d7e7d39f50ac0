"""The composite action: its scripts are run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.core import shipped

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step.get("id") or step.get("name"): step for step in ACTION["runs"]["steps"]}
GOOD = shipped.cassettes() / "openai.responses/demo/summary.cassette.jsonl"
BROKEN = shipped.cassettes() / "mutants/demo/summary.cassette.jsonl"


def judged(folder: Path, *, path: str = "", fine: bool = True, **inputs: str) -> tuple[str, str]:
    """Runs the step `Judge`; gives its output and what it told the runner.

    Programs are looked for in the folder `path` first. `fine`: the step itself is to succeed.
    """
    step = STEPS["conformance"]
    given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    names = {
        variable: text.split("inputs.")[1].strip(" }") for variable, text in step["env"].items()
    }
    outputs = folder / "told"
    environment = {
        **{variable: given[name] for variable, name in names.items()},
        "PATH": f"{path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    # As the runner calls `shell: bash`.
    call = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(
        call, cwd=folder, env=environment, capture_output=True, text=True, check=fine
    )
    return done.stdout + done.stderr, outputs.read_text()


@pytest.mark.parametrize(("file", "code"), [(GOOD, 0), (BROKEN, 1)], ids=["good", "broken"])
def test_action_writes_all_reports_whatever_verdict(file: Path, code: int, tmp_path: Path) -> None:
    out, outputs = judged(tmp_path, paths=f"{file}\n\n")
    assert outputs == f"exit-code={code}\n"
    assert ("::error " in out) is bool(code)
    written = sorted(path.name for path in (tmp_path / "conformance-report").iterdir())
    assert written == ["badge.json", "report.html", "report.json", "report.sarif", "report.xml"]
    sarif = json.loads((tmp_path / "conformance-report/report.sarif").read_text())
    assert len(sarif["runs"][0]["results"]) == code
    assert (tmp_path / "summary.md").read_text().startswith("# Conformance\n")


def test_arguments_are_taken_line_by_line_and_never_expanded(tmp_path: Path) -> None:
    hostile = "$(touch pwned) `touch pwned`; touch pwned"
    out, outputs = judged(
        tmp_path, paths=str(GOOD), arguments=f"--rule\n{hostile}", profile="strict"
    )
    assert outputs == "exit-code=2\n"
    assert hostile in out
    assert not (tmp_path / "pwned").exists()


def test_a_wrong_call_is_reported_and_not_lost(tmp_path: Path) -> None:
    out, outputs = judged(tmp_path, paths="none.sse")
    assert "error: none.sse: no such file or folder" in out
    assert "\n::error title=conformance::none.sse: no such file or folder" in f"\n{out}"
    assert outputs == "exit-code=2\n"


def test_a_live_run_is_saved_below_the_output(tmp_path: Path) -> None:
    """With a command in the place of the tool that tells what it was given."""
    program = tmp_path / "bin" / "conformance"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\necho "{}" > out/report.json\n')
    program.chmod(0o755)
    for arguments, saves in (("", 1), ("--save\nmine", 0), ("--client\nmine", 0)):
        out, _ = judged(
            tmp_path, path=str(program.parent), verb="run", output="out", arguments=arguments
        )
        assert out.count("--save\nout/recordings\n") == saves
    assert "--save\nout" not in judged(tmp_path, path=str(program.parent), output="out")[0]


@pytest.mark.parametrize("output", ["/tmp/report", "../report", "a/../../b", "C:/report", ".."])
def test_an_output_outside_the_workspace_fails_visibly(tmp_path: Path, output: str) -> None:
    out, outputs = judged(tmp_path, paths=str(GOOD), output=output, fine=False)
    assert out.startswith("::error title=conformance::output is to be a folder below the workspace")
    assert outputs == "exit-code=2\n"


def test_the_environment_of_the_caller_stays_as_it_is(tmp_path: Path) -> None:
    """With a Python that is too old: nothing is made of it."""
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    environment = {"PYTHON": str(old), "RUNNER_TEMP": str(tmp_path / "temp"), "PATH": "/bin"}
    call = ["bash", "-eo", "pipefail", "-c", STEPS["Install"]["run"]]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "or older than 3.11 (input python)" in done.stdout
    assert not (tmp_path / "temp").exists()
    assert not [step for step in STEPS.values() if "setup-python" in step.get("uses", "")]


def test_actions_of_others_are_pinned_by_hash() -> None:
    used = [step["uses"] for step in STEPS.values() if "uses" in step]
    assert used
    assert not [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each)]


def test_an_upload_that_a_repository_may_not_make_fails_nothing() -> None:
    assert STEPS["Upload SARIF"]["continue-on-error"] is True


def test_no_input_is_part_of_a_script() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert scripts
    assert not [script for script in scripts if "${{" in script]


def test_the_verdict_comes_last_and_is_the_exit_code() -> None:
    last = ACTION["runs"]["steps"][-1]
    call = ["bash", "-e", "-c", last["run"]]
    assert subprocess.run(call, env={"CODE": "5"}, check=False).returncode == 5
    assert last["env"]["CODE"] == ACTION["outputs"]["exit-code"]["value"]


def test_every_input_is_described_and_used() -> None:
    used = json.dumps(ACTION["runs"])
    for name, each in ACTION["inputs"].items():
        assert each["description"]
        assert f"inputs.{name}" in used


def test_the_workflow_of_the_docs_fits_the_action() -> None:
    text = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    ours = [step for step in steps if step.get("uses") == "./.conformance"]
    assert len(ours) == 2
    extra = [step for step in steps if (step.get("with") or {}).get("path") == ".conformance"]
    assert len(extra) == 2
    assert not any("ref" in step["with"] for step in extra)  # no version is published yet
    for step in ours:
        assert set(step["with"]) <= set(ACTION["inputs"])
