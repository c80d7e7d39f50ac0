"""How hostile files are made: texts that they share, and what is no plain file."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.hostile.answers import GOOD
from tests.hostile.limited import START_MB

Make = Callable[[Path], None]
HEAD: Final = b'{"cassette":"1.0","dialect":"openai.chat","profile":"strict"}\n'
ASKED: Final = b'{"request":{"method":"POST","path":"/v1/chat/completions"}}\n'
OPEN: Final = HEAD + ASKED + b'{"response":{"status":200}}\n'
END: Final = b'{"end":"eof"}\n'
WHOLE: Final = OPEN + json.dumps({"text": GOOD.decode()}).encode() + b"\n" + END
SUITE: Final = (
    "suite: own/x\nrules:\n  - id: a\n    level: MUST\n    says: It is so.\n"
    "    source: {breaks: a client}\n    since: 0.1.0\n"
)
FOLD: Final = SUITE + "    fold: {over: text.delta, take: text, matches: '%s'}\n"
PROFILE: Final = "profile: own\ndialect: openai.chat\n"
VCR: Final = (
    "interactions:\n- request: {method: POST, uri: '%s', body: '{}'}\n"
    "  response: {status: {code: 200}, headers: {}, body: {string: 'data: x'}}\n"
)


@dataclass(frozen=True, slots=True)
class HostileFile:
    """One file. `check` and `lint` are their exit codes, `suite` that of a check by it.

    `seconds` of processor time bound all verbs together, `megabytes` what the process may hold.
    """

    name: str
    content: bytes | str | Make
    check: int = 2
    lint: int = 2
    suite: int = 2
    seconds: int = 40
    megabytes: int = START_MB + 440
    sampled: bool = False

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        if callable(self.content):
            self.content(path)
        else:
            data = self.content
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def cassette(*lines: bytes) -> bytes:
    return OPEN + b"".join(lines) + END


def built(make: Callable[[], bytes]) -> Make:
    """A file whose bytes are made when it is written: megabytes of them."""

    def write(path: Path) -> None:
        path.write_bytes(make())

    return write


def zipped(front: bytes, unit: bytes, count: int) -> bytes:
    """What unpacks to `front` and `count` times `unit`, without ever having it in memory."""
    out = io.BytesIO()
    most = max(1, (1 << 20) // len(unit))
    with gzip.GzipFile(fileobj=out, mode="wb") as packed:
        packed.write(front)
        for at in range(0, count, most):
            packed.write(unit * min(most, count - at))
    return out.getvalue()


def zip_archive(front: bytes, count: int = 0) -> bytes:
    """An archive of one file: `front` and so many NULs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.cassette.jsonl", front + bytes(count))
    return out.getvalue()


def socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


def link_to(target: str) -> Make:
    return lambda path: path.symlink_to(target)


def sparse(size: int) -> Make:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def loop_of_folders(path: Path) -> None:
    path.mkdir()
    (path / "again").symlink_to(path)


def deep_folders(path: Path) -> None:
    for _ in range(100):
        path = path / "d"
    path.mkdir(parents=True)


def of_size(path_count: int) -> Make:
    def make(path: Path) -> None:
        path.mkdir()
        for number in range(path_count):
            (path / f"{number}.cassette.jsonl").write_bytes(b"")

    return make


def rules(count: int) -> str:
    rule = SUITE.split("rules:\n")[1]
    each = (rule.replace("id: a", f"id: a{n}") + "    never: done\n" for n in range(count))
    return "suite: own/x\nrules:\n" + "".join(each)
