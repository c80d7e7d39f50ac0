"""Sources and their remote storage: S3 is a local server (moto), where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.corpus.storage import Storage
from tests.corpus import made
from tests.corpus.checked import check, rows

ROOT = Path(__file__).parents[2]
ON_S3 = """
import sys
from urllib.parse import quote
import boto3
from moto.server import ThreadedMotoServer
from conformance.cli import main

server = ThreadedMotoServer("127.0.0.1", 0)
server.start()
host, port = server.get_host_and_port()
url = f"http://{host}:{port}"
client = boto3.client("s3", endpoint_url=url, region_name="us-east-1")
client.create_bucket(Bucket="logs")
for file in sys.argv[2:]:
    client.upload_file(file, "logs", "week=1/" + file.rpartition("/")[2])
asked = f"region=us-east-1&scheme=http&endpoint_override={quote(f'{host}:{port}')}"
source, out = f"s3://logs/week=1?{asked}", sys.argv[1]
page = f"html={out}/page.html"
code = main(["corpus", "check", source, "--out", out, "-j", "2"])
code = code or main(["corpus", "report", out, "--source", source, "-o", page])
server.stop()
sys.exit(code)
"""


def test_files_of_a_folder_are_sorted_and_hidden_ones_left_out(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/c.jsonl", ".hidden", "_SUCCESS", "mutants/x.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [file.path for file in Storage(str(tmp_path)).files()] == ["a/c.jsonl", "b.jsonl"]


def test_a_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "\udcff.sse"
    file.write_bytes(b"data: x\n\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        Storage(str(file))
    with pytest.raises(UsageError, match="not UTF-8"):
        list(Storage(str(tmp_path)).files())


def test_an_output_inside_of_its_source_is_no_part_of_it(tmp_path: Path) -> None:
    made.write_json_lines(tmp_path / "in.jsonl", range(3))
    assert check(tmp_path, tmp_path / "out").known == 1
    assert check(tmp_path, tmp_path / "out").known == 1


def test_a_name_and_password_are_not_shown() -> None:
    pytest.importorskip("fsspec", reason="a URL of another kind is opened by fsspec")
    with pytest.raises(UsageError) as caught:
        Storage("gopher://user:word@host/logs")
    assert "word" not in str(caught.value)


@pytest.mark.slow
def test_fsspec_opens_what_pyarrow_does_not(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="a URL of another kind is opened by fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/logs/a.jsonl", b"".join(map(made.json_line, range(5))))
    memory.pipe("/logs/one.sse", made.row_of(0)["body"])
    progress = check("memory://logs", tmp_path / "out")
    assert (progress.rows, progress.unreadable) == (6, 0)
    assert {row["file"] for row in rows(tmp_path / "out")} == {"a.jsonl", "one.sse"}


@pytest.mark.slow
def test_a_bucket_of_s3(tmp_path: Path) -> None:
    pytest.importorskip("moto.server", reason="a bucket needs moto[s3], flask and flask-cors")
    pytest.importorskip("boto3", reason="a bucket is filled by boto3")
    made.write_parquet(tmp_path / "a.parquet", range(10))
    made.write_json_lines(tmp_path / "b.jsonl.gz", range(10, 15))
    (tmp_path / "one.sse").write_bytes(made.row_of(0)["body"])
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    env = {**os.environ, **keys, "PYTHONPATH": str(ROOT), "NO_PROXY": "*"}
    files = [str(tmp_path / name) for name in ("a.parquet", "b.jsonl.gz", "one.sse")]
    command = [sys.executable, "-c", ON_S3, str(tmp_path / "out"), *files]
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(rows(tmp_path / "out")) == 16
    assert "endpoint_override" not in (tmp_path / "out" / "corpus.json").read_text(encoding="utf-8")
