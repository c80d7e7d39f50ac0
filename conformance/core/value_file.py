"""The file that holds built values: sealed by a digest, and in a checkout this user's alone.

A seal shows a file that is torn or damaged. It keeps nobody out: in a checkout the file counts only
if this user wrote it, and neither it nor its folder can be written by another. So what another user
put there, or a program made under another name, is left alone, and YAML is read instead.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp
from typing import Final

_SEAL_SIZE: Final = sha256().digest_size
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def sealed(packed: bytes) -> bytes:
    """The digest of the bytes, then the bytes."""
    return sha256(packed).digest() + packed


def unsealed(file: Path, *, only_own: bool) -> bytes | None:
    """The bytes that follow a file's seal; None without a file that may be used."""
    try:
        data = _read_own(file) if only_own else file.read_bytes()
    except OSError:
        return None
    packed = data[_SEAL_SIZE:]
    return packed if packed and sealed(packed) == data else None


def replace(file: Path, data: bytes) -> None:
    """Puts a whole file in place of another one, in a folder of this user alone."""
    file.parent.parent.mkdir(parents=True, exist_ok=True)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, name = mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read_own(file: Path) -> bytes:
    """Nothing where the system cannot say whose a file is. Raises OSError."""
    if not hasattr(os, "geteuid"):
        return b""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        found, folder = os.fstat(descriptor), file.parent.lstat()
        is_plain = stat.S_ISREG(found.st_mode) and stat.S_ISDIR(folder.st_mode)
        return stream.read() if is_plain and _is_own(found) and _is_own(folder) else b""


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE
