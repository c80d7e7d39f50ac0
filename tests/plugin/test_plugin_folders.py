"""The folder of one test: what is deleted there was written there."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.cassette import Cassette, Header, discover, write
from conformance.pytest_plugin.folders import CassetteFolder


def test_only_what_names_show_is_taken_for_a_recording_and_deleted(tmp_path: Path) -> None:
    write(tmp_path / "0001-chat.cassette.jsonl", Cassette(Header()))
    answer = {"object": "chat.completion", "choices": []}
    (tmp_path / "expected.json").write_text(json.dumps(answer))
    assert len(discover(tmp_path)) == 2
    folder = CassetteFolder(tmp_path)
    assert [path.name for path in folder.files()] == ["0001-chat.cassette.jsonl"]
    folder.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["expected.json"]
