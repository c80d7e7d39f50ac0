"""What is written can be read: raw requests, the caps that writer and reader share, full disks."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.cassette import Cassette, Header, Writer, convert, read, redact, write
from conformance.cassette.inspect import inspect
from conformance.core.errors import CassetteError
from conformance.core.events import ENDINGS, Chunk, Exchange, Request, Response

BODIES = (
    b'{"content": "\\ud83d"}',
    b'{"temperature": NaN}',
    b"\xef\xbb\xbf{}",
    b'{"model": "m", "messages": [',
    b"model=m&stream=true",
    b"null",
    b"\x00\xff\xfe",
    b"\xed\xa0\x80",
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(ascii_lowercase, min_size=1, max_size=8)
HEADERS = st.lists(st.tuples(NAMES, TEXT), max_size=3).map(tuple)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
MS = st.none() | st.floats(0, 1e6)
RAW = st.binary(min_size=1, max_size=40) | st.sampled_from(BODIES)
ASKED = st.builds(Request, st.just("POST"), TEXT, HEADERS, VALUES)
UNREAD = st.builds(Request, st.just("POST"), TEXT, HEADERS)
REQUESTS = st.none() | ASKED | st.builds(Request.with_raw, UNREAD, RAW)
CHUNKS = st.lists(st.builds(Chunk, st.binary(max_size=60) | TEXT.map(str.encode), MS), max_size=4)


@st.composite
def exchanges(draw: st.DrawFn, number: int = 1) -> Exchange:
    response = st.builds(Response, st.integers(100, 599), st.just("1.1"), HEADERS)
    return Exchange(
        number=number,
        request=draw(REQUESTS),
        response=draw(response),
        chunks=tuple(draw(CHUNKS)),
        end=draw(st.sampled_from(sorted(set(ENDINGS)))),
        scenario=draw(NAMES | st.just("")),
        role=draw(NAMES | st.just("")),
        hop=draw(st.sampled_from(["", "upstream", "downstream"])),
        seen=draw(st.none() | st.lists(st.dictionaries(NAMES, VALUES, max_size=2)).map(tuple)),
        touched=draw(st.sampled_from([(), ("*",), ("a/b", "c/d")])),
    )


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(one=exchanges(), other=exchanges(number=2), extra=st.dictionaries(NAMES, VALUES, max_size=2))
def test_what_is_written_is_read(
    tmp_path: Path, one: Exchange, other: Exchange, extra: dict[str, object]
) -> None:
    known = set(Header.__struct_fields__) | {"cassette"}
    header = Header(extra={f"own-{k}": v for k, v in extra.items() if k not in known})
    path = tmp_path / "a.cassette.jsonl"
    write(path, Cassette(header, (one, other)))
    found = read(path)
    assert found.exchanges == (one, other)
    assert found.header == header


@pytest.mark.parametrize("body", BODIES)
def test_a_body_that_is_no_json_is_kept_as_it_came(body: bytes, tmp_path: Path) -> None:
    exchange = Exchange(request=Request(path="/v1/x").with_raw(body), response=Response(200))
    path = tmp_path / "a.cassette.jsonl"
    write(path, redact(Cassette(Header(), (exchange,))))
    (found,) = read(path).exchanges
    assert found.request is not None
    assert found.request.raw == body
    assert any("not JSON" in line for line in inspect(found))


def test_a_form_loses_its_secrets_and_what_is_compressed_all() -> None:
    key = "sk-proj-" + "A1b2C3d4" * 6
    form = (("content-type", "application/x-www-form-urlencoded"),)
    packed = (("content-encoding", "gzip"),)
    for headers, body in (
        (form, f"client_secret=hunter2hunter2&key={key}".encode()),
        ((), f'{{"api_key": "{key}", '.encode()),
        (packed, b"\x1f\x8b" + key.encode()),
    ):
        exchange = Exchange(request=Request(headers=headers).with_raw(body))
        (clean,) = redact(Cassette(Header(), (exchange,))).exchanges
        assert clean.request is not None
        assert clean.request.raw is not None
        assert key.encode() not in clean.request.raw
        assert b"hunter2" not in clean.request.raw


def test_what_no_reader_takes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, writing = tmp_path / "a.cassette.jsonl", import_module("conformance.cassette.target_file")
    for name, most in (("MAX_LINE", 1000), ("MAX_BYTES", 900), ("MAX_LINES", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(writing, name, most)
            long = Exchange(request=Request(json="x" * 1000))
            with pytest.raises(CassetteError):
                write(path, Cassette(Header(), (long,)))
            assert list(tmp_path.iterdir()) == []


def test_a_request_of_17_mib_is_refused(tmp_path: Path) -> None:
    exchange = Exchange(request=Request(json="x" * (17 << 20)))
    with pytest.raises(CassetteError, match="16,777,216 bytes"):
        write(tmp_path / "a.cassette.jsonl", Cassette(Header(), (exchange,)))
    assert list(tmp_path.iterdir()) == []


LIMITED = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from conformance.cli import main
assert main(sys.argv[2:]) == 0  # what is loaded when it is needed needs no limit
if sys.argv[1] == "uid":
    os.setuid(65534)
else:
    limit, value = sys.argv[1].split("=")
    resource.setrlimit(getattr(resource, limit), (int(value),) * 2)
sys.exit(main([*sys.argv[2:-1], sys.argv[-1] + ".second.cassette.jsonl"]))
"""


@pytest.mark.one_in(3)
@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("RLIMIT_FSIZE=20000", "cannot be written: file too large"),
        ("RLIMIT_NOFILE=3", "cannot be read: too many open files"),
        ("uid", "cannot be written: permission denied"),
    ],
)
@pytest.mark.parametrize("verb", ["convert", "redact"])
def test_failure_leaves_no_file(verb: str, limit: str, message: str, tmp_path: Path) -> None:
    if limit == "uid" and os.geteuid() != 0:
        pytest.skip("only root gives up rights")
    with tempfile.TemporaryDirectory() as shared:  # a folder that everybody may read
        folder = Path(shared)
        folder.chmod(0o755)
        source, target = folder / "a.cassette.jsonl", folder / "b.cassette.jsonl"
        sse = tmp_path / "a.sse"
        sse.write_bytes(b'data: {"choices":[]}\n\n' * 2000)
        convert(sse, source)
        source.chmod(0o644)  # what is written is readable by its owner alone
        arguments = [verb, str(source), *(["-o"] if verb == "redact" else []), str(target)]
        command = [sys.executable, "-c", LIMITED, limit, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1
        assert message in done.stderr
        assert sorted(folder.iterdir()) == [source, target]


class FullDisk:
    """Where a recorder writes to, with no room left."""

    def write(self, _: bytes) -> int:
        raise OSError(28, "No space left on device")


def test_a_recorder_on_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Writer(tmp_path / "a.cassette.jsonl", Header(), append=True) as writer:
        with_room = writer._file._stream
        monkeypatch.setattr(writer._file, "_stream", FullDisk())
        with pytest.raises(CassetteError, match="no space left on device"):
            writer.request(None)
        monkeypatch.setattr(writer._file, "_stream", with_room)
