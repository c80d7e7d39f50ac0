"""Importers of other distributions: found by entry point, and harmless where they are broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.cassette import discover, is_recording, open_recording
from conformance.cassette.importers import registry
from conformance.core.errors import CassetteError
from conformance.recordings.check import check_paths

CASSETTES = Path(__file__).parents[2] / "cassettes"
GOOD = """
from conformance.cassette import Cassette, Header
from conformance.cassette.importers import ImportedRecording, Importer
from conformance.cassette.positions import Layout
from conformance.core.events import Chunk, Exchange

def recognises(file):
    return file.head.startswith(b"TAPE")

def read(file):
    if not recognises(file):
        return None
    body = file.data.partition(b"\\n")[2]
    exchange = Exchange(chunks=(Chunk(body),), dialect=file.dialect)
    header = Header(origin="imported", fidelity="text", recorder={"name": "tape"})
    return ImportedRecording(Cassette(header, (exchange,)), (Layout(1, (0,), (2,)),))

IMPORTER = Importer("tape", (".tape", ".json"), recognises, read, "a tape")
"""
FRAME = 'data: {"object":"chat.completion.chunk","choices":[]}\n\n'

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a distribution `tape-reader 1.2` with this module on the path."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    site = tmp_path / "site"

    def put(module: str) -> None:
        info = site / "tape_reader-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tape-reader\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(
            "[conformance.importers]\ntape = tape_reader:IMPORTER\n"
        )
        (site / "tape_reader.py").write_text(module, encoding="utf-8")
        registry.load_importers.cache_clear()

    yield put
    sys.modules.pop("tape_reader", None)
    registry.load_importers.cache_clear()


def taped(folder: Path, text: str = "TAPE\n" + FRAME, name: str = "a.tape") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_an_installed_importer_is_found_and_read(tmp_path: Path, install: Install) -> None:
    install(GOOD)
    path = taped(tmp_path)
    recording = open_recording(path, dialect="openai.chat")
    assert (recording.kind, recording.header.fidelity) == ("tape", "text")
    assert recording.exchanges[0].chunks[0].data == FRAME.encode()
    assert recording.locate(1, [-1, 0]) == [1, 2]
    assert is_recording(path)
    assert not is_recording(taped(tmp_path, "other", "b.tape"))
    assert list(discover(tmp_path)) == [path]


def test_without_one_nobody_knows_the_file(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="no answer of a model, but text"):
        open_recording(taped(tmp_path))


def test_a_file_that_it_refuses_names_what_was_expected(tmp_path: Path, install: Install) -> None:
    install(GOOD)
    with pytest.raises(CassetteError, match=r"b\.tape:1: expected a tape"):
        open_recording(taped(tmp_path, "other", "b.tape"))


def test_ours_come_first_and_a_body_of_json_stays_one(tmp_path: Path, install: Install) -> None:
    install(GOOD.replace('startswith(b"TAPE")', 'startswith(b"{")'))
    fixture = '{"events": [{"data": "{\\"type\\": \\"response.created\\"}"}]}'
    assert open_recording(taped(tmp_path, fixture, "a.json")).kind == "opal"
    assert open_recording(taped(tmp_path, "[1]", "b.json")).kind == "json"
    assert open_recording(taped(tmp_path, '{"a": 1}\nx', "c.json")).kind == "tape"


BROKEN = {
    "no module of its own": ("import nothing_of_that_name", "ModuleNotFoundError"),
    "ends the process": ("raise SystemExit('bye')", "SystemExit: bye"),
    "several lines": ("raise ValueError('a\\nb')", "ValueError: a b"),
    "no importer": ("IMPORTER = 5", "TypeError: expected an Importer, got int"),
    "a name of ours": (
        GOOD.replace('"tape", (', '"opal", ('),
        "ValueError: its name 'opal' is taken",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_importer_is_reported_once(tmp_path: Path, install: Install, case: str) -> None:
    module, why = BROKEN[case]
    install(module)
    body = taped(tmp_path, '{"a": 1}', "b.json")
    with pytest.warns(registry.ImporterWarning) as warned:
        opened = [open_recording(body).kind, open_recording(body).kind, *discover(tmp_path)]
    assert opened == ["json", "json"]
    [warning] = warned
    text = str(warning.message)
    assert text.startswith("importer 'tape' of tape-reader 1.2 cannot be loaded: ")
    assert why in text
    assert "\n" not in text


HOSTILE = {
    "raises": ("raise KeyError('x')", "KeyError: 'x'"),
    "ends": ("raise SystemExit", "SystemExit"),
    "text": ("return 'x'", "expected an ImportedRecording, got str"),
    "chunks": (
        "return ImportedRecording(Cassette(Header(), (Exchange(chunks=(Chunk('x'),)),)))",
        "expected chunks of bytes",
    ),
    "exchanges": ("return ImportedRecording(Cassette(Header(), (5,)))", "are Exchange values"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_failure_costs_its_own_file_only(tmp_path: Path, install: Install, case: str) -> None:
    statement, why = HOSTILE[case]
    install(GOOD.replace("    if not recognises(file):\n", f"    {statement}\n    if 1:\n"))
    stream = taped(tmp_path, FRAME, "b.sse")
    report = check_paths([taped(tmp_path), stream])
    [error] = report.errors
    assert "importer 'tape' of tape-reader 1.2 failed" in error
    assert why in error
    assert [each.file for each in report.streams] == [str(stream)]


def test_one_that_fails_to_recognise_is_passed_over(tmp_path: Path, install: Install) -> None:
    install(GOOD.replace('    return file.head.startswith(b"TAPE")', "    raise KeyError('x')"))
    taped(tmp_path)
    with pytest.warns(
        registry.ImporterWarning, match=r"tape-reader 1.2 does not recognise .*a.tape"
    ):
        assert list(discover(tmp_path)) == []


def test_a_layout_for_each_exchange_or_none(tmp_path: Path, install: Install) -> None:
    install(GOOD.replace(", (Layout(1, (0,), (2,)),)", ""))
    assert open_recording(taped(tmp_path)).locate(1, [-1, 0]) == [1, 1]


def loaded_by(path: Path, *modules: str) -> str:
    """Which of these modules a process has loaded that opened the file."""
    code = (
        "import sys; from conformance.cassette import open_recording;"
        "open_recording(sys.argv[1]); print({*sys.argv[2:]} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(path), *modules]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_formats_of_ours_load_no_importer(tmp_path: Path) -> None:
    path = taped(tmp_path, FRAME, "a.sse")
    assert loaded_by(path, "yaml", "conformance.cassette.importers.registry") == "set()"


def test_a_cassette_loads_no_other_kind() -> None:
    path = next(CASSETTES.rglob("*.cassette.jsonl"))
    assert loaded_by(path, "conformance.cassette.own_kinds") == "set()"
