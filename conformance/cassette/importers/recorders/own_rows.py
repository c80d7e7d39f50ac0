"""Rows that users add: the list `importers` of `conformance.yaml`, with the keys of a row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from conformance.cassette.importers import Importer
from conformance.cassette.importers.recorders.coding import CODINGS
from conformance.cassette.importers.recorders.reading import importer_of
from conformance.cassette.importers.recorders.row import Recorder
from conformance.core.configuration import configuration_in
from conformance.rules.node import Node
from conformance.rules.project_document import FileState, file_state, project_entries


def own_importers(folder: Path | None = None) -> tuple[Importer, ...]:
    """Importers of the rows in the `conformance.yaml` of a folder, by default the current one.

    Raises SpecError for a mistake in it.
    """
    folder = folder or Path()
    file = configuration_in(folder)
    return () if file is None else _importers_in(folder, file_state(file))


@lru_cache(maxsize=4)
def _importers_in(folder: Path, _state: FileState) -> tuple[Importer, ...]:
    rows = project_entries(folder).get("importers")
    return tuple(importer_of(_row_of(each)) for each in rows.sequence()) if rows else ()


def _row_of(node: Node) -> Recorder:
    try:
        row = msgspec.convert(node.plain(), Recorder)
    except msgspec.ValidationError as err:
        raise node.error(f"expected a row of a recorder: {err}") from err
    if not (row.body or row.chunks or row.payloads):
        raise node.error("the row does not say where a body is: body, chunks or payloads")
    for coded in (row.body, row.asked, row.chunks, row.codings_by):
        _check_codings(node, coded.values(), CODINGS)
    _check_codings(node, row.payloads.values(), ("text", "value"))
    for mark in row.marks:
        _check_mark(node, mark)
    return row


def _check_codings(node: Node, named: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(named) - set(known))
    if unknown:
        raise node.error(f"no coding is called {unknown[0]!r}", hint=f"one of {', '.join(known)}")


def _check_mark(node: Node, mark: str) -> None:
    try:
        re.compile(mark.encode())
    except re.error as err:
        raise node.error(f"the mark {mark!r} is no regular expression: {err}") from err
