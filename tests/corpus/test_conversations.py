"""Rows of one part that go on with each other's answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.core.events import Exchange
from conformance.corpus import conversations
from conformance.corpus.checking import CorpusProgress
from conformance.corpus.columns import ColumnNames
from conformance.corpus.grouping import corpus_report
from conformance.corpus.judge import CorpusJudge, JudgeChoices, JudgedStream
from conformance.corpus.rows import row_stream
from conformance.corpus.sampling import sample_corpus
from conformance.recordings import linked_files
from tests.corpus.checked import check, rows
from tests.evidence.links import edits
from tests.evidence.links.talks import TALKERS, history_of, talk, with_history

SEALED: Final = {
    "messages": "history/messages/signed-unchanged",
    "responses": "history/responses/sealed-unchanged",
    "openrouter": "history/chat/details-signed",
    "gemini": "history/gemini/signed-unchanged",
    "converse": "history/converse/signed-unchanged",
}
MESSAGES: Final = "messages"
SIGNED: Final = SEALED[MESSAGES]
Row = dict[str, Any]
CUT: Final = edits.cut(edits.SEALS[0])


def row_of(exchange: Exchange, name: str, id_: str, **more: Any) -> Row:
    talker = TALKERS[name]
    request = exchange.request
    assert request is not None
    body = {**request.json, "max_tokens": 4000} if name == MESSAGES else request.json
    asked = {"method": "POST", "path": talker.path, "json": body}
    return {
        "id": id_,
        "body": exchange.body.decode(),
        "request": json.dumps(asked),
        "headers": json.dumps({"content-type": "application/json"}),
        "status": 200,
        "dialect": talker.dialect,
        "profile": talker.profile,
        **more,
    }


def talk_rows(
    name: str, edit: edits.Edit | None = None, title: str = "t", **more: Any
) -> list[Row]:
    """A conversation, a row each; an edit changes what the third request repeats."""
    exchanges = talk(TALKERS[name])
    if edit is not None:
        key = TALKERS[name].history
        exchanges[2] = with_history(exchanges[2], key, edit(history_of(exchanges[2], key)))
    return [row_of(each, name, f"{title}-{each.number}", **more) for each in exchanges]


def checked(folder: Path, lines: Sequence[Row]) -> CorpusProgress:
    (folder / "in").mkdir()
    (folder / "in" / "a.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return check(folder / "in", folder / "out")


def history_findings(folder: Path) -> list[tuple[str, str]]:
    found = rows(folder / "out", "findings", "id", "rule")
    return sorted((e["id"], e["rule"]) for e in found if e["rule"].startswith("history/"))


@pytest.mark.parametrize("name", SEALED)
def test_a_seal_that_changes_between_rows_is_found(name: str, tmp_path: Path) -> None:
    checked(tmp_path, talk_rows(name, CUT))
    assert ("t-3", SEALED[name]) in history_findings(tmp_path)
    found = rows(tmp_path / "out", "findings", "rule", "message")
    (message,) = (each["message"] for each in found if each["rule"] == SEALED[name])
    assert "exchange 1 of t-1 " in message


@pytest.mark.parametrize("name", TALKERS)
def test_a_conversation_that_comes_back_as_it_was_is_right(name: str, tmp_path: Path) -> None:
    checked(tmp_path, talk_rows(name))
    assert history_findings(tmp_path) == []


@pytest.mark.parametrize("name", SEALED)
def test_history_rules_pass_where_rows_are_linked(name: str, tmp_path: Path) -> None:
    checked(tmp_path, talk_rows(name))
    found = rows(tmp_path / "out", "verdicts", "id", "passed_rules")
    passed = {each["id"]: each["passed_rules"].split() for each in found}
    assert SEALED[name] in passed["t-3"]
    assert SEALED[name] not in passed["t-1"]


def test_the_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    checked(tmp_path, talk_rows(MESSAGES, CUT)[::-1])
    assert history_findings(tmp_path) == [("t-3", SIGNED)]


def test_columns_of_parquet_are_linked_too(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    table = pa.Table.from_pylist(talk_rows(MESSAGES, CUT, session="one"))
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    check(tmp_path / "in", tmp_path / "out")
    assert history_findings(tmp_path) == [("t-3", SIGNED)]


@pytest.mark.parametrize(
    ("sessions", "found"),
    [
        (["one"] * 4, [("t-3", SIGNED)]),
        (["one", "two", "two", "two"], []),
        ([None] * 4, [("t-3", SIGNED)]),
        (["", 7, 7, 7], []),
    ],
)
def test_rows_of_another_session_are_not_linked(
    sessions: list[Any], found: list[tuple[str, str]], tmp_path: Path
) -> None:
    lines = talk_rows(MESSAGES, CUT)
    checked(tmp_path, [{**e, "session": s} for e, s in zip(lines, sessions, strict=True)])
    assert history_findings(tmp_path) == found


def test_a_mapping_names_the_column_of_sessions(tmp_path: Path) -> None:
    lines = talk_rows(MESSAGES, CUT)
    (tmp_path / "in").mkdir()
    texts = [json.dumps({**e, "labels": {"talk": n}}) for n, e in enumerate(lines)]
    (tmp_path / "in" / "a.jsonl").write_text("\n".join(texts))
    choices = JudgeChoices(columns=ColumnNames(session="labels.talk"))
    check(tmp_path / "in", tmp_path / "out", choices=choices)
    assert history_findings(tmp_path) == []


def test_sessions_that_say_the_same_are_each_held_against_themselves(tmp_path: Path) -> None:
    broken = talk_rows(MESSAGES, CUT, "b", session="b")
    right = talk_rows(MESSAGES, None, "r", session="r")
    mixed = [each for pair in zip(broken, right, strict=True) for each in pair]
    checked(tmp_path, mixed)
    assert history_findings(tmp_path) == [("b-3", SIGNED)]


def test_one_cause_in_many_conversations_is_one_group(tmp_path: Path) -> None:
    lines = [
        row
        for name in ("a.b", "c d", "e")
        for row in talk_rows(MESSAGES, CUT, f"{name}", session=name)
    ]
    checked(tmp_path, lines)
    groups = [g for g in corpus_report(tmp_path / "out").groups if g.rule == SIGNED]
    assert [each.streams for each in groups] == [3]


@pytest.mark.parametrize(
    ("bound", "most"), [("MOST_ROWS", 2), ("MOST_BYTES", 1)], ids=["rows", "bytes"]
)
def test_what_is_held_is_bounded_and_a_note_says_so(
    bound: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, bound, most)
    progress = checked(tmp_path, [*talk_rows(MESSAGES, CUT), *talk_rows(MESSAGES, CUT, "u")])
    assert progress.streams == 8
    assert history_findings(tmp_path) == []
    (note,) = progress.notes
    assert "a.jsonl: rows with requests were linked in parts of " in note


def test_ids_of_several_rows_are_distinguished(tmp_path: Path) -> None:
    lines = [{**each, "id": "same"} for each in talk_rows(MESSAGES, CUT)]
    checked(tmp_path, lines)
    found = rows(tmp_path / "out", "findings", "row", "rule", "message")
    (broken,) = (each for each in found if each["rule"] == SIGNED)
    assert broken["row"] == 2
    assert "exchange 1 of same#0 " in broken["message"]


def test_unlinked_rows_keep_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(linked_files, "_link_conversation", breaks)
    progress = checked(tmp_path, talk_rows(MESSAGES, CUT))
    assert (progress.streams, progress.unreadable) == (4, 0)
    (note,) = progress.notes
    assert note.endswith("a.jsonl: 4 rows are not linked: internal error: KeyError: 'x'")


def test_a_sample_leaves_out_what_shows_in_two_rows_only_and_says_so(tmp_path: Path) -> None:
    lines = talk_rows(MESSAGES, CUT, session="b") + talk_rows(MESSAGES, None, "r", session="r")
    checked(tmp_path, lines)
    sample = sample_corpus(tmp_path / "out", tmp_path / "sample")
    assert sample.left_out == (f"t-3: {SIGNED} compares rows, and a sample holds each by itself",)
    assert sample.recordings
    exercised = {rule for each in sample.recordings for rule in each.exercises}
    assert exercised
    assert exercised.isdisjoint(CorpusJudge().linked_rules)


def judged(judge: CorpusJudge, values: Row) -> JudgedStream:
    stream = row_stream(values, judge.choices.columns, 0, Path("x"), "x")
    (one,) = judge.judge_streams([stream], collects=True)
    assert isinstance(one, JudgedStream)
    return one


@pytest.mark.parametrize(
    ("rules", "change", "is_held"),
    [
        ((), {}, True),
        ((), {"request": None}, False),
        ((), {"request": "no json"}, False),
        (("wire/*",), {}, False),
    ],
    ids=["a request", "none", "one that is no object", "no rule that compares"],
)
def test_only_open_rows_are_held(rules: tuple[str, ...], change: Row, *, is_held: bool) -> None:
    judge = CorpusJudge(JudgeChoices(rules=rules))
    talks = conversations.RowConversations(judge)
    one = judged(judge, {**talk_rows(MESSAGES)[0], **change})
    assert len(list(talks.take(one))) == (0 if is_held else 1)
    assert len(list(talks.rest())) == (1 if is_held else 0)
