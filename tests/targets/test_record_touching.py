"""A recorder says at the end of an exchange which rules redaction made blind to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette import read
from conformance.core.chunked import ChunkPart
from conformance.targets.recording.cassette_file import CassetteFile, RecordingOptions
from conformance.targets.recording.exchange import ExchangeRecorder
from tests.recordings.test_redaction import KEY, TAG, chat


@pytest.mark.parametrize(("secret", "is_touching"), [(KEY, False), (TAG, True)])
def test_the_end_names_the_rules(tmp_path: Path, secret: str, is_touching: bool) -> None:
    (exchange,) = chat(f"So {secret} it is.", secret).exchanges
    assert exchange.request is not None
    assert exchange.response is not None
    path = tmp_path / "a.cassette.jsonl"
    file = CassetteFile(path, RecordingOptions(profile="strict"), exchange.request, via="direct")
    recorder = ExchangeRecorder(file, exchange.request)
    recorder.record_head(exchange.response)
    for chunk in exchange.chunks:
        recorder.record_parts([ChunkPart(chunk.data, len(chunk.data), whole=True)])
    recorder.record_end("eof")
    file.writer.close()
    (recorded,) = read(path).exchanges
    assert secret.encode() not in recorded.body
    assert recorded.touched == (("stripping/visible-text/no-markers",) if is_touching else ())
