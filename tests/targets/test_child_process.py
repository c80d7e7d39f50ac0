"""A program under test ends with everything that it started, and its own end is known at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any, Final

import pytest

from conformance.core.errors import UsageError
from conformance.targets import control_group
from conformance.targets.child_process import (
    Program,
    leftover_notes,
    start_program,
    stderr_words,
    unread_bytes,
)
from conformance.targets.control_group import ControlGroup
from tests.processes import has_ended

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def _can_make_groups() -> bool:
    group = ControlGroup.make()
    return group is not None and group.end() == []


grouped = pytest.mark.skipif(not _can_make_groups(), reason="no control group can be made here")


def groups_of_ours() -> list[Path]:
    above = (each for each in control_group._own_folders() if each.is_dir())
    return [one for each in above for one in each.glob(f"conformance-{os.getpid()}-*")]


# How a child may leave the group, the session and the parent that it had.
LEAVES: Final = {
    "in the group": "subprocess.Popen(SLEEP, stdout=2)",
    "in a session of its own": "subprocess.Popen(SLEEP, start_new_session=True)",
    "without its parent": "os.fork() or (os.fork() or os.execvp(SLEEP[0], SLEEP), os._exit(0))",
    "as a daemon": (
        "os.fork() or (os.setsid(), os.fork() or os.execvp(SLEEP[0], SLEEP), os._exit(0))"
    ),
    "without an environment": "subprocess.Popen(SLEEP, start_new_session=True, env={})",
}
SLEEP: Final = "SLEEP = [sys.executable, '-S', '-c', CODE]"
CHILD: Final = "import os, time; os.write(2, b'%d ' % os.getpid()); time.sleep(60)"


def started(code: str) -> Program:
    lines = ("import os, subprocess, sys, time", f"CODE = {CHILD!r}", SLEEP, code)
    return start_program([sys.executable, "-S", "-c", "\n".join(lines)], os.environ, "--agent")


def child_of(program: Program) -> int:
    output = b""
    while not output.endswith(b" "):
        output += os.read(program.stderr.fileno(), 100)
    return int(output)


def close_pipes(program: Program) -> None:
    for pipe in (program.stdin, program.stdout, program.stderr):
        pipe.close()


@linux
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("then", ["time.sleep(60)", "input()"])
def test_children_end_with_the_program(leaves: str, then: str) -> None:
    program = started(f"{LEAVES[leaves]}\n{then}")
    child = child_of(program)
    program.stdin.close()
    program.wait(0.0 if "sleep" in then else 20)
    program.end()
    assert has_ended(child)
    close_pipes(program)


@linux
def test_who_outlived_the_program_is_named() -> None:
    program = started(LEAVES["in a session of its own"])
    child = child_of(program)
    assert program.wait(20) == 0
    program.end()
    assert program.left == [f"{Path(sys.executable).name} [{child}]"]
    close_pipes(program)


def test_who_ends_with_the_program_is_not_named() -> None:
    code = "subprocess.Popen([sys.executable, '-S', '-c', 'import sys; sys.stdin.read()'])"
    program = started(code)
    program.stdin.close()
    program.wait(20)
    program.end()
    assert program.left == []
    close_pipes(program)


def killed_above(program: Program) -> None:
    """The program kills the process above it, and with that itself."""
    program.stdin.write(b"go")
    program.stdin.close()
    program.wait(20)


KILLS: Final = "sys.stdin.read(); os.kill(os.getppid(), 9); time.sleep(60)"


@grouped
@pytest.mark.parametrize("leaves", LEAVES)
def test_a_control_group_ends_children_of_who_killed_the_process_above_it(leaves: str) -> None:
    program = started(f"{LEAVES[leaves]}\n{KILLS}")
    child = child_of(program)
    killed_above(program)
    program.end()
    assert has_ended(child)
    assert f"[{child}]" in "".join(program.left)
    assert groups_of_ours() == []
    close_pipes(program)


@linux
def test_without_a_group_a_note_says_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlGroup, "make", lambda: None)
    program = started(KILLS)
    killed_above(program)
    program.end()
    (note,) = leftover_notes("agent", program.left)
    assert "the process above it was killed" in note
    close_pipes(program)


@grouped
def test_programs_that_come_faster_than_they_are_listed_end() -> None:
    code = "while True:\n os.fork() and os._exit(0)\n time.sleep(0.001)"
    program = started(code)
    (group,) = groups_of_ours()
    program.end()
    assert not group.exists()
    close_pipes(program)


@grouped
@pytest.mark.parametrize("code", ["sys.exit(0)", "time.sleep(60)"])
def test_no_group_is_left_behind(code: str) -> None:
    program = started(code)
    assert len(groups_of_ours()) == 1
    program.wait(0.1)
    program.end()
    assert groups_of_ours() == []
    close_pipes(program)


@pytest.mark.parametrize(
    "seen",
    [
        ("", "0::/\n"),
        ("41 31 0:38 / NOWHERE rw - cgroup2 cgroup2 rw\n", "0::/\n"),
        ("41 31 0:38 /other HERE rw - cgroup2 cgroup2 rw\n", "0::/mine\n"),
        ("41 31 0:38 / HERE rw - cgroup cgroup rw\n", "4:memory:/\n"),
        ("41 31 0:38 / HERE rw - cgroup2 cgroup2 rw\n", "0::/\n"),
    ],
)
def test_where_no_group_can_be_made_there_is_none(
    seen: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is no control group has no `cgroup.kill`: it is taken away again."""
    here = tmp_path / "here"
    here.mkdir()
    for name, text in zip(("_MOUNTS", "_OWN"), seen, strict=True):
        file = tmp_path / name
        file.write_text(text.replace("NOWHERE", "/no/such").replace("HERE", str(here)))
        monkeypatch.setattr(control_group, name, file)
    assert ControlGroup.make() is None
    assert list(here.iterdir()) == []


@linux
def test_a_program_ends_with_whoever_started_it() -> None:
    """Also where that was killed: nobody is left to ask."""
    code = f"""
import os, sys
from conformance.targets.child_process import start_program
code = {CHILD!r}.replace("2,", "1,")
program = start_program([sys.executable, "-S", "-c", code], os.environ, "--agent")
sys.stdout.buffer.write(os.read(program.stdout.fileno(), 100))
sys.stdout.flush()
os.kill(os.getpid(), {signal.SIGKILL})
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL
    assert has_ended(int(run.stdout))


@pytest.mark.parametrize(
    ("code", "expected"),
    [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", -9), ("time.sleep(60)", None)],
)
def test_how_a_program_ended_is_known(code: str, expected: int | None) -> None:
    program = started(code)
    assert program.wait(0.1 if expected is None else 20) == expected
    program.end()
    close_pipes(program)


def test_the_end_does_not_wait_for_who_holds_the_pipes() -> None:
    program = started("print('mine', flush=True)\nsubprocess.Popen(SLEEP, start_new_session=True)")
    begun = monotonic()
    assert program.wait(30) == 0
    assert unread_bytes(program.stdout) == len("mine\n")
    program.end()
    assert monotonic() - begun < 30
    close_pipes(program)


@pytest.mark.parametrize("ours", [signal.default_int_handler, signal.SIG_IGN])
def test_an_interrupt_is_the_program_s_own_to_take(ours: Any) -> None:
    """Also where ours is ignored, as in a job that a shell started in the background."""
    code = "try:\n print('x', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: sys.exit(7)"
    before = signal.signal(signal.SIGINT, ours)
    try:
        program = started(code)
    finally:
        signal.signal(signal.SIGINT, before)
    program.stdout.readline()
    program.interrupt()
    assert program.wait(20) == 7
    program.end()
    close_pipes(program)


@pytest.mark.parametrize("name", ["LC_CTYPE", "PYTHONPATH"])
def test_the_environment_is_the_one_that_was_given(name: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != name}
    words = ["/bin/sh", "-c", f"echo ${{{name}-none}}"]
    program = start_program(words, environment, "--agent")
    assert program.stdout.readline() == b"none\n"
    program.end()
    close_pipes(program)


def test_what_is_no_program_is_the_caller_s_mistake(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for word, why in (("no-such-thing", "no such file"), (str(plain), "permission denied")):
        with pytest.raises(UsageError, match=f"--agent .*cannot be started: {why}"):
            start_program([word], os.environ, "--agent")


def test_a_note_names_some_and_counts_all() -> None:
    assert leftover_notes("agent", []) == []
    (note,) = leftover_notes("agent", [f"sleep [{number}]" for number in range(7)])
    assert note.startswith("the agent left 7 programs running, which we ended: sleep [0], ")
    assert note.endswith("sleep [4] and 2 more")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("", ""),
        ("no key is set\n", "; stderr ends: no key is set"),
        (
            "Traceback:\n  File x\nOSError: no route\n\n",
            "; stderr ends: Traceback: | File x | OSError: no route",
        ),
        ("Traceback:\n" + "  at y\n" * 200 + "OSError: no route", "at y | OSError: no route"),
        ("x" * 5000, f"; stderr ends: …{'x' * 300}"),
        ("y\n" + "x" * 5000 + "\nthe end", "; stderr ends: the end"),
    ],
)
def test_what_a_program_says_at_last_is_shown_to_its_end(said: str, shown: str) -> None:
    words = stderr_words(said)
    assert words.endswith(shown)
    assert len(words) < 330
