from __future__ import annotations

import errno
import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.core.errors import UsageError
from conformance.corpus.columns import ColumnNames
from conformance.corpus.engines import WorkerProcesses
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask
from conformance.corpus.judge import JudgeChoices
from conformance.corpus.output import CorpusOutput, read_about
from conformance.recordings.check import check_paths
from tests.corpus import made
from tests.corpus.checked import OwnProcess, check, output_bytes, rows

SIZE = 120


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    made.write_parquet(folder / "a.parquet", range(60), group=25)
    made.write_json_lines(folder / "b.jsonl", range(60, 90))
    (folder / "provider=west").mkdir()
    made.write_json_lines(folder / "provider=west" / "c.jsonl.gz", range(90, SIZE))
    return folder


@pytest.fixture(scope="module")
def checked(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    check(corpus, out)
    return out


def test_every_stream_has_the_verdicts_of_the_bare_judge(checked: Path) -> None:
    found = {row["id"]: set(row["failed_rules"]) for row in rows(checked)}
    expected = {made.stream_id(n): made.broken_rules(made.template_of(n)) for n in range(SIZE)}
    assert found == expected


def test_planted_faults_are_found_and_nothing_else(checked: Path) -> None:
    found = {(row["id"], row["rule"]) for row in rows(checked, "findings")}
    assert found >= set(made.planted(range(SIZE)).items())
    assert {name for name, _ in found} == set(made.planted(range(SIZE)))


def test_a_row_keeps_what_its_source_says(checked: Path) -> None:
    row = next(row for row in rows(checked) if row["id"] == made.stream_id(7))
    given = made.row_of(7)
    columns = ("dialect", "profile", "provider", "model", "time")
    assert {name: row[name] for name in columns} == {name: given[name] for name in columns}
    assert (row["found"], row["bytes"], row["week"]) == ("named", len(given["body"]), "2026-W45")
    assert (row["file"], row["part"], row["row"]) == ("a.parquet", 0, 7)


@pytest.mark.slow
def test_several_processes_write_same_bytes(corpus: Path, checked: Path, tmp_path: Path) -> None:
    check(corpus, tmp_path, WorkerProcesses(2))
    assert output_bytes(tmp_path) == output_bytes(checked)


def test_a_check_goes_on_where_it_stopped(corpus: Path, checked: Path, tmp_path: Path) -> None:
    shutil.copytree(checked, tmp_path / "out")
    gone = sorted((tmp_path / "out" / "verdicts").iterdir())[::2]
    for file in gone:
        file.unlink()
    progress = check(corpus, tmp_path / "out")
    assert progress.fragments == len(gone)
    assert progress.done_before == progress.known - len(gone) > 0
    assert output_bytes(tmp_path / "out") == output_bytes(checked)


@pytest.mark.slow
def test_changed_sources_are_judged_again(corpus: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(corpus, source)
    check(source, out)
    made.write_json_lines(source / "b.jsonl", range(200, 210))
    (source / "a.parquet").unlink()
    progress = check(source, out)
    assert (progress.fragments, progress.stale) == (1, 3)
    numbers = [*range(200, 210), *range(90, SIZE)]
    assert sorted(row["id"] for row in rows(out)) == sorted(map(made.stream_id, numbers))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), "dictionary"]
)
def test_bodies_of_any_kind_of_column(kind: pa.DataType | str, tmp_path: Path) -> None:
    texts = [made.row_of(number)["body"].decode() for number in (0, 49, 1)]
    column = (
        pa.array(texts).dictionary_encode() if kind == "dictionary" else pa.array(texts).cast(kind)
    )
    dialects = [made.row_of(number)["dialect"] for number in (0, 49, 1)]
    profiles = [made.row_of(number)["profile"] for number in (0, 49, 1)]
    table = pa.table({"body": column, "dialect": dialects, "profile": profiles})
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    progress = check(tmp_path / "in", tmp_path / "out")
    assert (progress.rows, progress.unreadable) == (3, 0)
    assert [row["id"] for row in rows(tmp_path / "out")] == [f"a.parquet:0#{n}" for n in range(3)]
    assert [row["bytes"] for row in rows(tmp_path / "out")] == [len(t.encode()) for t in texts]


def test_byte_ranges_give_each_line_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    made.write_json_lines(tmp_path / "in" / "a.jsonl", range(40))
    check(tmp_path / "in", tmp_path / "whole")
    monkeypatch.setattr("conformance.corpus.fragments.RANGE_BYTES", 5000)
    assert check(tmp_path / "in", tmp_path / "cut").fragments > 5
    whole, cut = (
        sorted((row["id"], row["failed_rules"]) for row in rows(tmp_path / name))
        for name in ("whole", "cut")
    )
    assert cut == whole


def test_rows_that_cannot_be_read_are_reported_and_the_others_judged(tmp_path: Path) -> None:
    good = json.loads(made.json_line(0))
    lines = [
        good,
        {**good, "id": "null", "body": None},
        {**good, "id": "parsed", "body": {"choices": []}},
        {
            **good,
            "id": "other",
            "dialect": "anthropic.messages"
            if good["dialect"] != "anthropic.messages"
            else "openai.chat",
        },
        {**good, "id": "unknown", "dialect": "klingon"},
        {**good, "id": "chunks", "chunks": [[0.0, 3]]},
        {**good, "id": "end", "end": "boom"},
        {"id": "none"},
        [1],
        {**good, "id": "last"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines) + '{"id": "cut'
    (tmp_path / "in.jsonl").write_text(text, encoding="utf-8")
    progress = check(tmp_path / "in.jsonl", tmp_path / "out")
    assert [row["id"] for row in rows(tmp_path / "out")] == [good["id"], "last"]
    reasons = {row["id"]: row["reason"] for row in rows(tmp_path / "out", "unreadable")}
    assert progress.unreadable == len(reasons) == 9
    assert reasons["null"] == "the body is null"
    assert "parsed value" in reasons["parsed"]
    assert "the stream speaks" in reasons["other"]
    assert "klingon" in reasons["unknown"]
    assert reasons["chunks"].startswith("the chunks have 3 bytes")
    assert "no ending 'boom'" in reasons["end"]
    assert reasons["none"] == "it has no 'body'"
    assert progress.faults[0] == "in.jsonl: null: the body is null".replace(
        "in.jsonl", str(tmp_path / "in.jsonl")
    )


def test_a_mapping_names_columns_also_inside_of_others(tmp_path: Path) -> None:
    row = json.loads(made.json_line(0))
    other = {"trace": {"id": "t1"}, "response": {"raw": row["body"]}, "kind": row["dialect"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(other) + "\n", encoding="utf-8")
    pq.write_table(pa.Table.from_pylist([other]), tmp_path / "b.parquet")
    columns = ColumnNames(body="response.raw", id="trace.id", dialect="kind")
    for name in ("a.jsonl", "b.parquet"):
        check(
            tmp_path / name, tmp_path / name.partition(".")[0], None, JudgeChoices(columns=columns)
        )
        (found,) = rows(tmp_path / name.partition(".")[0])
        assert (found["id"], found["dialect"]) == ("t1", row["dialect"])


def test_folders_of_recordings_have_the_verdicts_of_check(tmp_path: Path) -> None:
    source = Path("cassettes/openai.chat/openrouter").resolve()
    copied = tmp_path / "in"  # what ships is trusted; a copy is not
    shutil.copytree(source, copied)
    progress = check(copied, tmp_path / "out")
    found = {
        (row["file"], row["exchange"], row["view"]): (row["profile"], set(row["failed_rules"]))
        for row in rows(tmp_path / "out")
    }
    expected = {
        (Path(each.file).relative_to(copied).as_posix(), each.exchange, each.view): (
            each.profile,
            {rule for rule, verdict in each.verdicts.items() if verdict == "FAIL"},
        )
        for each in check_paths([copied]).streams
    }
    assert found == expected
    assert progress.unreadable == 0


def test_times_of_chunks_are_a_clock(tmp_path: Path) -> None:
    row = json.loads(made.json_line(0))
    size = len(row["body"].encode())
    timed = {**row, "chunks": [[1.0, 10], [2.0, size - 10]]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(timed), encoding="utf-8")
    check(tmp_path / "a.jsonl", tmp_path / "out")
    plain, clocked = rows(tmp_path / "out")
    assert clocked["untestable"] < plain["untestable"]


def refused(source: Path | str, out: Path, choices: JudgeChoices | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        check(source, out, None, choices)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_bad_sources_and_outputs_are_refused_in_one_line(corpus: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    pq.write_table(pa.table({"body": [1]}), tmp_path / "number.parquet")
    pq.write_table(pa.table({"text": ["x"]}), tmp_path / "other.parquet")
    out = tmp_path / "out"
    assert "no such file or folder" in refused(tmp_path / "nowhere", out)
    assert "holds no recorded streams" in refused(empty, out)
    assert "holds int64, expected text or bytes" in refused(tmp_path / "number.parquet", out)
    assert "no column 'body' for the body; there are text" in refused(
        tmp_path / "other.parquet", out
    )
    mapped = JudgeChoices(columns=ColumnNames(id="stream_no"))
    assert "no column 'stream_no' for the id" in refused(corpus / "a.parquet", out, mapped)
    assert "no column 'stream_no' for the id" in refused(corpus / "b.jsonl", out, mapped)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    assert "no output of a corpus" in refused(corpus, tmp_path / "full")
    (tmp_path / "file").touch()
    assert "cannot be written" in refused(corpus, tmp_path / "file")


def test_folders_need_rights(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", denied)
    message = refused(corpus / "b.jsonl", tmp_path / "out")
    assert message == f"{tmp_path / 'out'}: cannot be written: permission denied"


def test_an_output_of_another_corpus_is_left_alone(checked: Path, tmp_path: Path) -> None:
    before = output_bytes(checked)
    made.write_json_lines(tmp_path / "other.jsonl", range(3))
    assert "another corpus: of " in refused(tmp_path / "other.jsonl", checked)
    assert output_bytes(checked) == before


def test_another_profile_is_another_output(corpus: Path, checked: Path) -> None:
    message = refused(corpus, checked, JudgeChoices(profile="strict"))
    assert "another corpus: by other options" in message


def test_cut_file_is_judged_once_it_is_whole(corpus: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    whole = (corpus / "a.parquet").read_bytes()
    (source / "a.parquet").write_bytes(whole[: len(whole) // 2])
    packed = gzip.compress(b"".join(map(made.json_line, range(60, 70))))
    (source / "b.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    progress = check(source, out)
    parquet, lines = sorted(progress.faults)
    assert parquet.startswith(f"{source / 'a.parquet'}: no whole Parquet file")
    assert lines.startswith(f"{source / 'b.jsonl.gz'}: the file is damaged or cut short")
    (source / "a.parquet").write_bytes(whole)
    (source / "b.jsonl.gz").write_bytes(packed)
    assert check(source, out).unreadable == 0
    assert {row["id"] for row in rows(out)} == {made.stream_id(n) for n in range(70)}


def test_damaged_zstd_is_reported(tmp_path: Path) -> None:
    made.write_json_lines(tmp_path / "a.jsonl.zst", range(50))
    whole = (tmp_path / "a.jsonl.zst").read_bytes()
    (tmp_path / "a.jsonl.zst").write_bytes(whole[:40] + b"?" + whole[41:])
    progress = check(tmp_path / "a.jsonl.zst", tmp_path / "out")
    assert progress.unreadable == 1
    assert "damaged or cut short" in progress.faults[0]


@pytest.mark.slow
def test_a_full_disk_leaves_nothing_half_written(
    corpus: Path, checked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def full(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    monkeypatch.setattr("os.fsync", full)
    assert "cannot be written: no space left on device" in refused(corpus, out)
    monkeypatch.undo()
    assert not list(out.rglob("*.draft"))
    check(corpus, out)
    assert output_bytes(out) == output_bytes(checked)


def test_an_output_that_cannot_be_begun_is_free_for_the_next_check(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    monkeypatch.setattr("os.fsync", full)
    assert "cannot be written: no space left on device" in refused(corpus / "b.jsonl", out)
    monkeypatch.undo()
    assert check(corpus / "b.jsonl", out).unreadable == 0


def test_another_version_is_another_output(corpus: Path, tmp_path: Path) -> None:
    check(corpus / "b.jsonl", tmp_path / "out")
    file = tmp_path / "out" / "corpus.json"
    about = json.loads(file.read_bytes())
    file.write_text(json.dumps({**about, "toolkit": "0.0.1"}), encoding="utf-8")
    assert "another corpus: by other version" in refused(corpus / "b.jsonl", tmp_path / "out")
    file.write_text(json.dumps({**about, "corpus": 2}), encoding="utf-8")
    assert "is of form 2, this version reads 1" in refused(corpus / "b.jsonl", tmp_path / "out")


def test_ctrl_c_leaves_a_corpus_to_resume(corpus: Path, checked: Path, tmp_path: Path) -> None:
    class Interrupted(OwnProcess):
        tasks = 0

        def run_task(self, place: int, task: FragmentTask) -> FragmentOutcome:
            self.tasks += 1
            if self.tasks == 3:
                raise KeyboardInterrupt
            return super().run_task(place, task)

    with pytest.raises(KeyboardInterrupt):
        check(corpus, tmp_path, Interrupted())
    assert check(corpus, tmp_path).done_before == 2
    assert output_bytes(tmp_path) == output_bytes(checked)


def test_one_check_at_a_time_writes_to_a_folder(corpus: Path, checked: Path) -> None:
    first = CorpusOutput(checked)
    first.begin(read_about(checked))
    try:
        assert "another check is writing there" in refused(corpus, checked)
    finally:
        first.close()


def test_the_engine_of_this_process_has_one_place() -> None:
    assert OwnProcess().places == 1
