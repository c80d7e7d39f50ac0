"""Files that we write: for their owner alone, unless what is there says otherwise.

Recordings and reports hold what people and models said. So a new file has mode 0600, whatever the
umask. A file that takes the place of another one keeps its mode. A folder that is shared on purpose
(it has the setgid bit, or a default access list) says itself who may read what is made in it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Final

_OWNER: Final = 0o600
_AS_THE_FOLDER_SAYS: Final = 0o666
_BUFFER: Final = 1 << 20
_DEFAULT_LIST: Final = "system.posix_acl_default"


def create_file(
    path: Path, *, in_place_of: Path | None = None, exclusive: bool = False
) -> IO[bytes]:
    """Opens a file that is made, or made empty, here; `in_place_of` is what it will replace.

    With `exclusive` there may be none yet. Raises OSError.
    """
    replaced = _mode_of(in_place_of or path)
    mode = _new_mode(path.parent) if replaced is None else replaced
    fresh = os.O_EXCL if exclusive else os.O_TRUNC
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | fresh, mode)
    try:
        if replaced is not None and in_place_of is not None:
            os.fchmod(descriptor, replaced)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "wb", _BUFFER)


def _mode_of(path: Path) -> int | None:
    """What a file may be used for, and by whom; None where there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except OSError:
        return None


def _new_mode(folder: Path) -> int:
    try:
        is_shared = bool(folder.stat().st_mode & stat.S_ISGID)
    except OSError:
        return _OWNER  # whoever opens the file learns what is wrong
    return _AS_THE_FOLDER_SAYS if is_shared or _has_default_list(folder) else _OWNER


def _has_default_list(folder: Path) -> bool:
    """Whether a folder says by an access list who may use what is made in it (Linux)."""
    try:
        return bool(os.getxattr(folder, _DEFAULT_LIST))
    except (OSError, AttributeError):
        return False
