"""Makes one of the environments that the Makefile uses: `install.py FOLDER STEP...`.

A step is `--lock FILE` (exact versions with hashes), `--named PACKAGE...` (the newest that fit),
`--wheel FILE` (a built wheel, without what it depends on) or `--editable EXTRAS` (this checkout;
with extras, what it depends on is resolved, without any the lock has it). Steps run in order.
It needs nothing but Python 3.11 and a package index. A step that fails ends with status 1 and one
line: which package, and what to do.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

OLDEST = (3, 11)

_MISSING = re.compile(r"No matching distribution found for ([^\s(]+)")
_OTHER_BYTES = re.compile(r"DO NOT MATCH THE HASHES.*?\n\s+(\S+)", re.DOTALL)
_ERROR = re.compile(r"^(?:ERROR|error): (.+)$", re.MULTILINE)
_CAUSES = (
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "{}: the certificate of the package index is not trusted; set PIP_CERT",
    ),
    (
        r"Retrying \(|NewConnectionError|NameResolutionError|ConnectTimeoutError|ProxyError",
        "{}: no package index answers; connect, or name one with PIP_INDEX_URL",
    ),
    (r"No space left on device", "{}: the disk is full"),
    (
        r"No matching distribution found for torch",
        "{}: the index has no such build; name one that it has: make TORCH=torch==VERSION",
    ),
    (
        r"No matching distribution found",
        "{}: the index lacks it for this Python; set PIP_INDEX_URL, or run `make lock`",
    ),
    (
        r"DO NOT MATCH THE HASHES",
        "{}: the index gives other bytes than the lock names; name another with PIP_INDEX_URL",
    ),
)
"""What pip prints, and what to do about it; `{}` is the package. The first that fits counts."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    for option in ("--lock", "--named", "--wheel", "--editable"):
        parser.add_argument(option, nargs="+", action=_Step, dest="steps", default=[])
    chosen = parser.parse_args(arguments)
    failure = _environment(chosen.folder)
    for option, values in chosen.steps:
        if failure is None:
            print(f"{chosen.folder}: {' '.join(values)}", flush=True)
            failure = _installed(chosen.folder, option, values)
    if failure is not None:
        print(f"cannot install {chosen.folder}: {failure}", file=sys.stderr)
    else:
        _compile(chosen.folder)
    return failure is not None


class _Step(argparse.Action):
    """Keeps the options in the order in which they were given."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        del parser
        namespace.steps = [*namespace.steps, (option_string, values)]


def _environment(folder: Path) -> str | None:
    """Make the environment anew; say what prevents it."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        return f"Python {found} is too old; name another one: make PYTHON=python3.12"
    made = _ran([sys.executable, "-m", "venv", "--clear", str(folder)])
    if made is None:
        return None
    if "ensurepip" in made:
        return "this Python has no ensurepip; on Debian and Ubuntu: apt install python3-venv"
    return f"python -m venv fails: {_last_line(made)}"


def _installed(folder: Path, option: str, values: list[str]) -> str | None:
    """Run one step; say what prevents it."""
    # What builds the checkout is in the lock, too: nothing newer is fetched for it.
    from_lock = [] if values[0] else ["--no-deps", "--no-build-isolation"]
    chosen = {
        "--lock": ["--no-deps", "--require-hashes", *(f"-r{each}" for each in values)],
        "--named": values,
        "--wheel": ["--no-deps", *values],
        "--editable": [*from_lock, f"--editable=.{values[0]}"],
    }[option]
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(scripts / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    printed = _ran([*pip, "--no-compile", *chosen])
    return None if printed is None else _explained(printed)


def _compile(folder: Path) -> None:
    """Compile what was installed, on all processors: pip would use one, for more than a minute.

    Some packages hold files that no Python compiles; they are for their tests or for Python 2.
    """
    packages = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    _ran([sys.executable, "-m", "compileall", "-qq", "-j", "0", packages])


def _ran(command: list[str]) -> str | None:
    """None where the command succeeds, else what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


def _explained(output: str) -> str:
    """One line that names the package and the way on."""
    named = _MISSING.search(output) or _OTHER_BYTES.search(output)
    for pattern, line in _CAUSES:
        if re.search(pattern, output):
            return line.format(named[1] if named else "a package")
    return _last_line(output)


def _last_line(output: str) -> str:
    errors = _ERROR.findall(output)
    lines = errors or [line for line in output.splitlines() if line.strip()] or ["no message"]
    return str(lines[-1]).strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
