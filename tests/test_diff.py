"""What changed on the wire, and what is mere chance of a model."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.cassette import read, write
from conformance.core import shipped
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Exchange, Request
from conformance.diff import WireChange, compare
from conformance.diff.fields import FieldShapes
from conformance.diff.order import StepOrder, order_edits
from conformance.editing.operator import make_mutants
from conformance.judging.rulebook import Rulebook
from conformance.mutate import OPERATORS, open_base
from conformance.report.difference import RENDERERS

ROOT = shipped.cassettes()
DEMO = ROOT / "openai.responses/demo/summary.cassette.jsonl"
CHAT = ROOT / "openai.chat/ollama/reasoning-field.cassette.jsonl"
BODY = ROOT / "openai.responses/openai/body.cassette.jsonl"
TURNS = ROOT / "openai.chat/reference/opt-in.cassette.jsonl"
RULES = Rulebook.load()
Edit = Callable[[bytes], bytes]


def edited(source: Path, target: Path, edit: Edit, **changes: object) -> Path:
    """The first exchange with an edited body and other facts, as a cassette of its own."""
    cassette = read(source)
    first, *rest = cassette.exchanges
    body = edit(b"".join(chunk.data for chunk in first.chunks))
    facts: dict[str, object] = {"chunks": (Chunk(body, 1.0),), **changes}
    exchange: Exchange = replace(first, **facts)
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, replace(cassette, exchanges=(exchange, *rest), sealed=False))
    return target


def found(old: Path, new: Path, *, with_text: bool = False) -> set[WireChange]:
    return {
        c
        for each in compare(old, new, rulebook=RULES, with_text=with_text).compared
        for c in each.changes
    }


def swap(old: bytes, new: bytes) -> Edit:
    def edit(body: bytes) -> bytes:
        assert old in body
        return body.replace(old, new)

    return edit


CHANCE: list[tuple[str, Path, Edit]] = [
    ("ids", DEMO, swap(b"msg_02", b"msg_7f3a99c1")),
    ("times", DEMO, swap(b'"created_at":17', b'"created_at":18')),
    ("texts", DEMO, swap(b"dusk", b"twilight")),
    ("chat ids", CHAT, swap(b'"id":"chatcmpl-', b'"id":"chatcmpl-9')),
    ("chat texts", CHAT, swap(b"Street", b"Garden")),
]


@pytest.mark.parametrize(("source", "edit"), [c[1:] for c in CHANCE], ids=[c[0] for c in CHANCE])
def test_what_chance_changes_is_no_change(source: Path, edit: Edit, tmp_path: Path) -> None:
    assert found(source, edited(source, tmp_path / "new.cassette.jsonl", edit)) == set()


def test_a_recording_has_not_changed_from_itself() -> None:
    for path in (DEMO, CHAT, BODY, TURNS):
        assert found(path, path) == set()


CHANGES: list[tuple[str, Path, Edit, WireChange]] = [
    (
        "a field is new",
        DEMO,
        swap(b'"store":true', b'"store":true,"tier":"flex"'),
        WireChange("field", "response.created: response.tier", "", "string"),
    ),
    (
        "a field is gone",
        DEMO,
        swap(b'"annotations":[]', b'"notes":[]'),
        WireChange(
            "field", "response.content_part.added: part<output_text>.annotations", "array", ""
        ),
    ),
    (
        "a field is of another kind",
        DEMO,
        swap(b'"output_index":1', b'"output_index":"1"'),
        WireChange("field", "response.output_text.delta: output_index", "number", "string"),
    ),
    (
        "ids begin otherwise",
        DEMO,
        swap(b"msg_02", b"item-02"),
        WireChange("field", "response.output_text.delta: item_id", "msg_*", "item-*"),
    ),
    (
        "an event has another name",
        DEMO,
        swap(b"response.output_text.done", b"response.output_text.ended"),
        WireChange("event", "response.output_text.ended", "", "once"),
    ),
    (
        "a reason is another",
        CHAT,
        swap(b'"finish_reason":"stop"', b'"finish_reason":"end_turn"'),
        WireChange("field", "chat.choice: finish_reason", "stop", "end_turn"),
    ),
    (
        "the terminator is missing",
        CHAT,
        swap(b"data: [DONE]\n\n", b""),
        WireChange("event", "[DONE]", "once", ""),
    ),
    (
        "comments came in",
        CHAT,
        swap(b"data: [DONE]", b": ping\n\ndata: [DONE]"),
        WireChange("fact", "framing", "no event lines", "comments, no event lines"),
    ),
    (
        "thinking moved to another field",
        CHAT,
        swap(b'"reasoning":', b'"thinking":'),
        WireChange("field", "chat.choice: delta.thinking", "", "string"),
    ),
    (
        "a rule is broken now",
        DEMO,
        swap(b"They are", b"</think>They are"),
        WireChange("verdict", "stripping/visible-text/no-markers", "PASS", "FAIL"),
    ),
]


@pytest.mark.parametrize(
    ("source", "edit", "change"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES]
)
def test_wire_change_is_shown(source: Path, edit: Edit, change: WireChange, tmp_path: Path) -> None:
    changes = found(source, edited(source, tmp_path / "new.cassette.jsonl", edit))
    assert change in changes


def test_the_order_is_reported_with_what_came_before(tmp_path: Path) -> None:
    def late(body: bytes) -> bytes:
        events = body.split(b"\n\n")
        at = next(n for n, e in enumerate(events) if b"reasoning_summary_text.done" in e)
        events[at], events[at + 1] = events[at + 1], events[at]
        return b"\n\n".join(events)

    changes = found(DEMO, edited(DEMO, tmp_path / "new.cassette.jsonl", late))
    orders = [c for c in changes if c.kind == "order" and c.what.startswith("wire, after")]
    assert orders
    text = " ".join(f"{c.what} {c.before} {c.now}" for c in orders)
    assert "response.reasoning_summary_part.done" in text


def test_a_framing_that_was_rebuilt_is_not_compared(tmp_path: Path) -> None:
    chunk = (
        '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
        '[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}\n'
    )
    payloads, lines = tmp_path / "a.jsonl", tmp_path / "a.ndjson"
    for path in (payloads, lines):
        path.write_text(chunk)
    (compared,) = compare(payloads, lines).compared
    assert compared.changes == ()
    assert compared.notes == ("the framing of one recording was rebuilt, and is not compared",)


def test_head_and_end_are_compared(tmp_path: Path) -> None:
    head = replace(read(CHAT).exchanges[0].response, status=201)  # type: ignore[type-var]
    new = edited(CHAT, tmp_path / "n.cassette.jsonl", lambda b: b, response=head, end="reset")
    changes = found(CHAT, new)
    assert WireChange("fact", "status", "200", "201") in changes
    assert WireChange("fact", "end", "eof", "reset") in changes


def test_text_counts_only_where_it_is_asked_for(tmp_path: Path) -> None:
    new = edited(DEMO, tmp_path / "new.cassette.jsonl", swap(b"dusk", b"dawn"))
    assert found(DEMO, new) == set()
    (change,) = found(DEMO, new, with_text=True)
    assert change.kind == "text"
    difference = compare(DEMO, new, rulebook=RULES, with_text=True)
    page = RENDERERS["html"](difference)
    assert "<del>dusk</del>" in page
    assert "<ins>dawn</ins>" in page
    line = RENDERERS["text"](difference, colour=True)
    assert all(f"m{word}\x1b[" in line for word in ("dusk", "dawn"))
    assert change.what.startswith("thinking (summary), character ")
    assert "dusk" in change.before
    assert "dawn" in change.now


def test_one_delta_instead_of_many_is_a_change(tmp_path: Path) -> None:
    order = [
        f'data: {{"id":"c","choices":[{{"index":0,"delta":{{"content":"{n}"}}}}]}}\n\n'
        for n in range(9)
    ]
    many = edited(CHAT, tmp_path / "old.cassette.jsonl", lambda _: "".join(order).encode())
    once = edited(CHAT, tmp_path / "new.cassette.jsonl", lambda _: order[0].encode())
    few = edited(CHAT, tmp_path / "few.cassette.jsonl", lambda _: "".join(order[:3]).encode())
    assert WireChange("event", "chat.choice", "9 times", "once") in found(many, once)
    assert [c for c in found(many, few) if c.kind == "event"] == []


def test_requests_that_differ_are_noted_and_no_change(tmp_path: Path) -> None:
    # A summary is asked for in both: one that nobody asked for would be a change of a verdict.
    reasoning = {"effort": "low", "summary": "auto"}
    asked = Request(path="/v1/other", json={"model": "x", "reasoning": reasoning, "stream": True})
    new = edited(DEMO, tmp_path / "new.cassette.jsonl", lambda b: b, request=asked)
    (pair,) = compare(DEMO, new, rulebook=RULES).compared
    assert pair.changes == ()
    assert pair.notes == (
        "the requests went to /v1/responses and /v1/other",
        "the requests differ in input, model, reasoning",
    )


def test_exchanges_are_paired_by_scenario_and_role(tmp_path: Path) -> None:
    cassette = read(TURNS)
    turned = replace(cassette, exchanges=cassette.exchanges[:1], sealed=False)
    write(tmp_path / "new.cassette.jsonl", turned)
    compared = compare(TURNS, tmp_path / "new.cassette.jsonl").compared
    assert len(compared) == len(cassette.exchanges) > 1
    kinds = [[c.kind for c in each.changes] for each in compared]
    assert kinds[1:] == [["exchange"]] * (len(compared) - 1)


def test_folders_are_compared_by_name(tmp_path: Path) -> None:
    edited(DEMO, tmp_path / "old/a.cassette.jsonl", lambda b: b)
    edited(DEMO, tmp_path / "new/a.cassette.jsonl", swap(b"msg_02", b"msg_03"))
    edited(CHAT, tmp_path / "old/sub/b.cassette.jsonl", lambda b: b)
    edited(CHAT, tmp_path / "new/c.cassette.jsonl", lambda b: b)
    (tmp_path / "new/broken.sse").write_bytes(b"")
    (tmp_path / "old/broken.sse").write_bytes(b"")
    difference = compare(tmp_path / "old", tmp_path / "new")
    assert [(each.name, len(each.changes)) for each in difference.compared] == [
        ("a.cassette.jsonl, exchange 1", 0),
        ("c.cassette.jsonl", 1),
        ("sub/b.cassette.jsonl", 1),
    ]
    assert len(difference.errors) == 1
    assert "broken.sse" in difference.errors[0]


def test_a_file_next_to_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected two files or two folders"):
        compare(DEMO, tmp_path)
    with pytest.raises(UsageError, match="no such file or folder"):
        compare(DEMO, tmp_path / "none")


@pytest.mark.parametrize("source", [DEMO, CHAT], ids=["responses", "chat"])
@pytest.mark.parametrize("operator", ["N8-merged-deltas", "N7-split-delta"])
def test_deltas_may_be_cut_otherwise(source: Path, operator: str, tmp_path: Path) -> None:
    made = next(each for each in OPERATORS if each.name == operator)
    assert made.must == "pass"
    origin = open_base(source)
    (stream,) = origin.streams()
    tried = list(make_mutants(made, stream, most=3))
    assert tried
    for number, mutant in enumerate(tried):
        target = tmp_path / f"{number}.cassette.jsonl"
        write(target, replace(origin.with_exchange(mutant.exchange), sealed=False))
        assert found(source, target) == set()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "mutants/wire").rglob("*.jsonl"))[::9], ids=lambda p: p.name
)
def test_a_planted_fault_is_a_change_from_its_base(path: Path) -> None:
    named = str(read(path).header.extra["base"]).removesuffix(".cassette.jsonl")
    assert found(ROOT / f"{named}.cassette.jsonl", path)


@given(
    groups=st.lists(
        st.tuples(st.text("abc", min_size=1, max_size=3), st.integers(1, 4)), max_size=8
    )
)
def test_repetition_never_changes_an_order(groups: list[tuple[str, int]]) -> None:
    def order(times: Callable[[int], int]) -> tuple[str, ...]:
        drawn = StepOrder()
        for group, number in groups:
            for _ in range(times(number)):
                for step in group:
                    drawn.add_step(step)
        return drawn.collapsed_steps()

    # Groups may run into each other, so only what follows itself at once can be asked of any.
    once = order(lambda _: 1)
    assert all(a != b for a, b in pairwise(once))
    if len({step for group, _ in groups for step in group}) == sum(len(g) for g, _ in groups):
        assert order(lambda number: number) == once


@given(
    old=st.lists(st.sampled_from("abcd"), max_size=12),
    new=st.lists(st.sampled_from("abcd"), max_size=12),
)
def test_edits_turn_the_old_order_into_the_new(old: list[str], new: list[str]) -> None:
    changed = list(order_edits(tuple(old), tuple(new)))
    assert bool(changed) == (old != new)
    gone = [step for edit in changed for step in edit.before]
    came = [step for edit in changed for step in edit.now]
    assert sorted([*old, *came]) == sorted([*new, *gone])


def test_a_stream_that_invents_fields_is_bounded() -> None:
    fields = FieldShapes()
    for number in range(5000):
        fields.add_payload("chat.chunk", {f"key{number}": {"deep": number}})
    assert len(fields.paths) == 4000
    assert fields.is_clipped


def test_a_stream_that_invents_types_is_bounded() -> None:
    order = StepOrder()
    for number in range(30_000):
        order.add_step(f"type{number}")
    assert order.is_clipped
    assert len(order.collapsed_steps()) == 20_000
