"""The document of a project's `conformance.yaml`: the one reader of the file.

Custom importers, trust and the command line all take the nodes of their keys from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from conformance.core.configuration import KEYS, configuration_in
from conformance.rules import document
from conformance.rules.node import Node

FileState = tuple[int, int, int, int]


def project_entries(folder: Path | None = None) -> Mapping[str, Node]:
    """The keys of the file in a folder, by default the current one; empty if it is not read.

    Raises SpecError for an invalid document, and for unknown keys.
    """
    file = configuration_in(folder or Path())
    return {} if file is None else _entries_in(file, file_state(file))


def file_state(file: Path) -> FileState:
    """What changes where the file changes, or another one lies there: its name may be relative."""
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _entries_in(file: Path, state: FileState) -> Mapping[str, Node]:
    del state
    return document.load(file).mapping(KEYS)
