"""A control group of Linux around a program under test, where this process may make one.

Whatever the program starts is in it, and the system ends all of it at once: also programs that come
faster than anybody can list them, and those whose process above them (`warden`) was killed. It
takes version 2, `cgroup.kill` (Linux 5.14) and a group of our own that we may write below: root
has that, and most sessions of a desktop. Elsewhere the warden is all there is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Final, Self

from conformance.targets.warden import process_words, write_existing

_MOUNTS: Final = Path("/proc/self/mountinfo")
_OWN: Final = Path("/proc/self/cgroup")
_ENDS_S: Final = 2.0
_LOOK_S: Final = 0.01
_NUMBERS: Final = count(1)


class ControlGroup:
    """A group that was made, below our own; `end` takes it away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def make(cls) -> Self | None:
        """An empty group; None where there can be none."""
        for above in _own_folders():
            folder = above / f"conformance-{os.getpid()}-{next(_NUMBERS)}"
            with suppress(OSError):
                folder.mkdir()
                group = cls(folder)
                if (folder / "cgroup.kill").exists() and _is_writable(folder / "cgroup.procs"):
                    return group
                group.end()
        return None

    def end(self) -> list[str]:
        """Ends all that is in it. Who that was, in words; none where it is gone already."""
        left = [f"{process_words(pid) or 'a process'} [{pid}]" for pid in self._members()]
        until = monotonic() + _ENDS_S
        while self.folder.exists() and monotonic() < until:
            write_existing(f"{self.folder}/cgroup.kill", b"1")
            with suppress(OSError):
                self.folder.rmdir()
                break
            sleep(_LOOK_S)
        return left

    def _members(self) -> list[int]:
        try:
            return list(map(int, (self.folder / "cgroup.procs").read_text("ascii").split()))
        except OSError:
            return []


def _own_folders() -> Iterator[Path]:
    """Where our own group is seen: nowhere, or below each place where version 2 is mounted."""
    try:
        mounts = _MOUNTS.read_text("utf-8", "replace").splitlines()
        groups = _OWN.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    own = next((each[3:] for each in groups if each.startswith("0::")), None)
    for mount in mounts:
        facts, _, kind = mount.partition(" - ")
        if own is not None and kind.startswith("cgroup2 "):
            root, place = facts.split()[3:5]
            if own.startswith(root.rstrip("/")):
                yield Path(place) / own.removeprefix(root.rstrip("/")).lstrip("/")


def _is_writable(file: Path) -> bool:
    return os.access(file, os.W_OK)
