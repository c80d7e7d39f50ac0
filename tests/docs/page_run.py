"""One page, run from top to bottom in a folder of its own: files written, commands compared.

A block with a title is a file of that name. `console` is run line by line in one shell, `python`
as a script, or by pytest where it has tests. Ports of this machine that a page names are replaced
by free ones. What a page takes for granted (recordings, a server) lies in `given/PAGE/`, with
`before.sh` to start it; there `$PYTHON` is the Python of the tests, `$ROOT` their checkout.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, Self

from tests.docs.blocks import ROOT, Block, blocks_of
from tests.docs.transcripts import Command, commands_of, shows

GIVEN: Final = Path(__file__).parent / "given"
PATIENCE_S: Final = 400.0
RUN: Final = frozenset({"console", "python"})
_PORT: Final = re.compile(r"(?:127\.0\.0\.1|localhost):(\d{2,5})\b|-port[= ](\d{2,5})\b")
_MARK: Final = "--the-command-is-over--"
_WAIT: Final = "for i in $(seq 200); do grep -q READY {0} && break; sleep 0.1; done; cat {0}"


def run_page(
    page: str, folder: Path, environment: Mapping[str, str], languages: Collection[str] = RUN
) -> list[str]:
    """What does not do what the page says, a paragraph each; empty where all is well.

    Blocks of `languages` are run, and files written.
    """
    given = GIVEN / Path(page).stem.lower()
    if given.is_dir():
        shutil.copytree(given, folder, dirs_exist_ok=True)
    text = (ROOT / page).read_text(encoding="utf-8")
    ports = {port: str(free_port()) for pair in _PORT.findall(text) for port in pair if port}
    faults = []
    with PageShell(folder, environment, ports) as shell, shell.ended_after(PATIENCE_S):
        before = given / "before.sh"
        if before.is_file():
            shell.run(before.read_text(encoding="utf-8"))
        for block in blocks_of(page):
            if not block.not_run and (block.title or block.language in languages):
                faults += [f"{page}:{block.line}: {why}" for why in _run_block(block, shell)]
    return faults


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class PageShell:
    """A shell that lives as long as the page; what it has started ends with it."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], ports: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self._ports = ports
        self._started = 0
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env={
                **environment,
                "PYTHON": sys.executable,
                "ROOT": str(ROOT),
                "PYTHONUNBUFFERED": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._bash.communicate()

    @contextlib.contextmanager
    def ended_after(self, seconds: float) -> Iterator[None]:
        """Whatever hangs ends after this time, and the page with it."""
        timer = threading.Timer(seconds, self._end)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGTERM)

    def here(self, text: str) -> str:
        """The text with ports that are free here."""
        for port, free in self._ports.items():
            text = re.sub(rf"(?<=[:= ]){port}\b", free, text)
        return text

    def run(self, command: str) -> tuple[str, int]:
        """What a command printed, and its exit code."""
        stdin, stdout = self._bash.stdin, self._bash.stdout
        assert stdin
        assert stdout
        # No command may read the commands that follow.
        stdin.write(f"{{ {self.here(command)}\n}} < /dev/null\nprintf '\\n%s %d\\n' {_MARK} $?\n")
        stdin.flush()
        lines: list[str] = []
        for line in stdout:
            if line.startswith(_MARK):
                return self._as_on_the_page("".join(lines).removesuffix("\n")), int(line.split()[1])
            lines.append(line)
        return f"{''.join(lines)}\nthe shell has ended", -1

    def start(self, command: str) -> tuple[str, int]:
        """Starts a server; what it prints until it is ready."""
        self._started += 1
        file = f".printed-{self._started}"
        text = command.split("#", maxsplit=1)[0].rstrip().removesuffix("&")
        return self.run(f"touch {file}\n{text} > {file} 2>&1 &\n{_WAIT.format(file)}")

    def _as_on_the_page(self, text: str) -> str:
        for port, free in self._ports.items():
            text = re.sub(rf"\b{free}\b", port, text)
        return text


def _run_block(block: Block, shell: PageShell) -> Iterator[str]:
    if block.title:
        file = shell.folder / block.title
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shell.here(block.text) + "\n", encoding="utf-8")
    elif block.language == "console":
        for command in commands_of(block.text):
            yield from _run_command(command, shell)
    elif block.language == "python":
        name = f"block_{block.line}.py"
        (shell.folder / name).write_text(shell.here(block.text) + "\n", encoding="utf-8")
        tests = "def test_" in block.text
        printed, code = shell.run(f"pytest -q {name}" if tests else f"python {name}")
        if code:
            yield f"exit code {code}:\n{printed}"


def _run_command(command: Command, shell: PageShell) -> Iterator[str]:
    printed, code = (shell.start if command.is_background else shell.run)(command.text)
    message = f"$ {command.text}\n{printed}"
    if command.shown and not shows(command.shown, printed):
        yield "the page shows something else than\n" + message
    # What is found is an exit code of 1: a page that shows findings shows that.
    if code not in ((0, 1) if command.shown or "# exits 1" in command.text else (0,)):
        yield f"exit code {code}:\n{message}"
