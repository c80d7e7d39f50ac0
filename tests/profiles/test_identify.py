"""Who sent a stream: certain, guessed or unknown; drafted profiles; what check makes of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import open_recording
from conformance.cli import main
from conformance.core.events import Event
from conformance.dialects.openai_chat.private_fields import PrivateFields
from conformance.identify import Identity, Witness, draft
from conformance.profiles.fingerprints import Signs
from conformance.profiles.load import limits, load_profile
from conformance.profiles.lookup import find, fingerprints
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.identification import ExchangeIdentification
from conformance.rules.verdicts import Verdict
from tests.profiles.identifying import (
    CHAT,
    GROQ,
    PRIVATE,
    RULEBOOK,
    SNOWFLAKE,
    TABLE,
    chunk,
    identified,
    written,
)

KEYS = st.sampled_from(["id", "choices", "delta", "usage", "item", "response", "index", "x"])
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda each: st.lists(each, max_size=2) | st.dictionaries(KEYS, each), max_leaves=6
)
KINDS = st.sampled_from(
    ["chat.chunk", "chat.choice", "response.created", "response.output_item.done", "sse.comment"]
)
SIGNS = {dialect: fingerprints(dialect) for dialect in (CHAT, "openai.responses")}


@settings(max_examples=60)
@given(st.lists(st.tuples(KINDS, st.dictionaries(KEYS, VALUES, max_size=4)), max_size=4))
def test_hostile_events_never_raise(events: list[tuple[str, dict[str, Any]]]) -> None:
    for dialect, signs in SIGNS.items():
        witness = Witness(dialect, Signs(signs))
        for kind, payload in events:
            witness.see(Event(kind, payload, 1, "wire"))
        assert witness.identity().dialect == dialect


# --- fields that nobody knows

FIELDS: tuple[tuple[list[dict[str, Any]], tuple[str, ...]], ...] = (
    ([{"my_thoughts": "let me "}, {"my_thoughts": "see"}], ("my_thoughts",)),
    ([{"x": {"inner": "let me "}}, {"x": {"inner": "see"}}], ("x.inner",)),
    ([{"my_thoughts": "all at once, in one piece"}], ()),
    ([{"stage": "thinking hard"}, {"stage": "thinking hard"}], ()),  # a label
    ([{"hash": "a1b2c3"}, {"hash": "d4e5f6"}], ()),  # no words
    ([{"reasoning_content": "let me "}, {"reasoning_content": "see"}], ()),
    ([{"a.b": "let me "}, {"a.b": "see"}], ()),
    ([{"my": 1}, {"my": None}, {"my": ["let me see"]}], ()),
)


@pytest.mark.parametrize(("deltas", "paths"), FIELDS)
def test_private_field_has_pieces(deltas: list[dict[str, Any]], paths: tuple[str, ...]) -> None:
    fields = PrivateFields()
    for delta in deltas:
        fields.see(Event("chat.choice", {"delta": delta}, 1, "wire"))
    assert fields.thinking() == paths


# --- what strict says of it


def test_deviation_names_the_knob_that_was_seen(tmp_path: Path) -> None:
    found = identified(written(tmp_path / "a.sse", PRIVATE)).deviations
    assert [(each.rule, each.knob, each.value) for each in found] == [
        ("wire/chat/same-created", "created", "varies")
    ]


def test_deviation_without_a_knob_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "a.sse", [*PRIVATE[:4], chunk({"content": 7}), chunk({}, "stop")])
    found = {each.rule: each.knob for each in identified(path).deviations}
    assert found == {"wire/chat/delta-types": None}


def test_thinking_between_markers_is_read_from_there(tmp_path: Path) -> None:
    counts = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    marked = [
        chunk({"role": "assistant", "content": "<think>"}),
        chunk({"content": "so"}),
        chunk({"content": "</think>"}),
        chunk({"content": "Hi"}),
        chunk({}, "stop"),
        {**chunk({}), "choices": [], "usage": counts},
    ]
    found = identified(written(tmp_path / "a.sse", marked))
    assert found.identity.knobs["markers"] == [["<think>", "</think>"]]
    assert found.identity.knobs["reasoning_tokens"] == "absent"
    assert [each.knob for each in found.deviations] == ["markers"]


# --- the draft


def test_draft_reads_what_no_dialect_knows(tmp_path: Path) -> None:
    path = written(tmp_path / "a.sse", PRIVATE)
    assert main(["identify", str(path), "--write-profile", str(tmp_path / "mine.yaml")]) == 0
    profile = load_profile(tmp_path / "mine.yaml")
    assert profile.fields == {"thinking": ("my_reasoning",)}
    assert limits(profile.file) == ()
    report = check_paths([path], profile=str(tmp_path / "mine.yaml"))
    assert report.findings == ()
    assert report.verdicts["thinking/stream/increments"] is Verdict.PASS


def test_private_thinking_counts_as_thinking(tmp_path: Path) -> None:
    late = [*PRIVATE[:4], chunk({"my_reasoning": "too late"}), PRIVATE[4]]
    path = written(tmp_path / "a.sse", late)
    (tmp_path / "mine.yaml").write_text(
        f"profile: mine\ndialect: {CHAT}\nfields: {{thinking: [my_reasoning]}}\n", encoding="utf-8"
    )
    by_mine = check_paths([path], profile=str(tmp_path / "mine.yaml")).findings
    assert "thinking/stream/before-text" in {finding.rule for finding in by_mine}
    by_strict = check_paths([path], profile="strict").findings
    assert "thinking/stream/before-text" not in {finding.rule for finding in by_strict}


def test_draft_builds_on_a_certain_profile_only(tmp_path: Path) -> None:
    certain, guess = written(tmp_path / "a.sse", GROQ), written(tmp_path / "b.sse", SNOWFLAKE)
    for path, base in ((certain, "groq"), (guess, "strict")):
        target = tmp_path / f"{path.stem}.yaml"
        assert main(["identify", str(path), "--write-profile", str(target)]) == 0
        assert load_profile(target).extends == base


KNOBS = find("strict", CHAT).declared
OBSERVED = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(knob.values) for name, knob in KNOBS.items() if knob.values}
)


@pytest.mark.slow
@settings(max_examples=40)
@given(OBSERVED, st.sampled_from(["strict", "openrouter", "copilot", "lenient"]))
def test_every_draft_loads(
    tmp_path_factory: pytest.TempPathFactory, knobs: dict[str, Any], base: str
) -> None:
    identity = Identity(CHAT, None, "none", (), {}, knobs, ("a_b", "null", "x.y-z"))
    path = tmp_path_factory.getbasetemp() / "drafted.yaml"
    path.write_text(draft("drafted", identity, find(base, CHAT)), encoding="utf-8")
    profile = load_profile(path)
    assert limits(path) == ()
    assert profile.fields["thinking"] == ("a_b", "null", "x.y-z")
    # Drafted again from the same facts, there is nothing left to say.
    assert "knobs:" not in draft("again", identity, profile)


REFUSED = (
    ("mine.txt", "a profile's file is <name>.yaml"),
    ("a b.yaml", "a profile's file is <name>.yaml"),
    ("strict.yaml", "strict is the profile that declares the knobs"),
    ("there.yaml", "already exists, and is not overwritten"),
    ("none/mine.yaml", "cannot be written: No such file or directory"),
)


@pytest.mark.parametrize(("name", "message"), REFUSED)
def test_draft_is_refused_before_anything_is_lost(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there.yaml").write_text("mine", encoding="utf-8")
    path = written(tmp_path / "a.sse", PRIVATE)
    assert main(["identify", str(path), "--write-profile", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / "there.yaml").read_text(encoding="utf-8") == "mine"


# --- the verb


def test_json_fits_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["schema", "identity"])
    schema = json.loads(capsys.readouterr().out)
    for chunks in (PRIVATE, GROQ, SNOWFLAKE):
        assert main(["identify", str(written(tmp_path / "a.sse", chunks)), "--format", "json"]) == 0
        jsonschema_rs.validate(schema, json.loads(capsys.readouterr().out))
    assert not jsonschema_rs.is_valid(schema, {"identity": "1.0", "exchanges": [{}]})


def test_text_says_when_it_guesses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["identify", str(written(tmp_path / "a.sse", SNOWFLAKE))])
    assert "  profile   snowflake (a guess): id, system_fingerprint" in capsys.readouterr().out
    main(["identify", str(written(tmp_path / "a.sse", GROQ))])
    assert "  profile   groq: x_groq\n" in capsys.readouterr().out
    main(["identify", str(written(tmp_path / "a.sse", PRIVATE))])
    printed = capsys.readouterr().out
    assert "  profile   none: no fingerprint identifies the sender\n" in printed
    assert "  private   my_reasoning: text that no reader knows\n" in printed
    assert "created: varies (strict: constant)\n" in printed


def test_unknown_format_is_a_usage_error(tmp_path: Path) -> None:
    assert main(["identify", str(written(tmp_path / "a.sse", GROQ)), "--format", "xml"]) == 2


# --- what check makes of it


def test_check_takes_a_certain_profile_and_says_why(tmp_path: Path) -> None:
    (stream,) = check_paths([written(tmp_path / "a.sse", GROQ)]).streams
    assert (stream.profile, stream.named) == ("groq", False)
    (note,) = stream.notes
    assert note.startswith("profile groq identified by: x_groq; otherwise than strict: created, ")


def test_check_takes_no_guess_and_says_whose_ways_its_findings_may_be(tmp_path: Path) -> None:
    path = written(tmp_path / "a.sse", [*SNOWFLAKE, SNOWFLAKE[0]])
    (stream,) = check_paths([path]).streams
    assert (stream.profile, stream.named) == ("strict", False)
    (strict,) = check_paths([path], profile="strict").streams
    assert stream.verdicts == strict.verdicts
    assert [f.rule for f in stream.findings] == [f.rule for f in strict.findings]
    (note,) = (note for note in stream.notes if "guess" in note)
    assert note.startswith("perhaps snowflake, by a guess: id, system_fingerprint")
    assert note.endswith("see --profile snowflake")
    assert not [note for note in strict.notes if "guess" in note]


def test_guess_is_shown_only_with_findings(tmp_path: Path) -> None:
    (stream,) = check_paths([written(tmp_path / "a.sse", SNOWFLAKE)]).streams
    assert stream.findings == ()
    assert not [note for note in stream.notes if "guess" in note]


def test_named_profile_beats_every_sign(tmp_path: Path) -> None:
    (stream,) = check_paths([written(tmp_path / "a.sse", GROQ)], profile="strict").streams
    assert (stream.profile, stream.named) == ("strict", True)
    assert not [note for note in stream.notes if "identified" in note]


# --- real recordings


@pytest.fixture(scope="session")
def recorded() -> list[tuple[dict[str, Any], ExchangeIdentification]]:
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    rows = [row for row in TABLE if (Path(folder) / row["file"]).exists()]
    found = [(row, identified(Path(folder, row["file"]))) for row in rows]
    assert len(found) > 100
    return found


# SGLang serves it: its signs are there, its host's are not.
SERVED_BY = {"hosted/azure_deepseek_v4pro.jsonl": "sglang"}


@pytest.mark.captures
def test_host_is_right_for_nine_in_ten_and_never_wrong_but_as_a_guess(
    recorded: list[tuple[dict[str, Any], ExchangeIdentification]],
) -> None:
    pairs = [(SERVED_BY.get(row["file"], row["profile"]), found) for row, found in recorded]
    right = [host == found.identity.profile for host, found in pairs]
    assert sum(right) / len(right) >= 0.9
    assert not [
        found.file
        for host, found in pairs
        if found.identity.certainty == "certain" and found.identity.profile != host
    ]


@pytest.mark.captures
def test_own_profile_permits(
    recorded: list[tuple[dict[str, Any], ExchangeIdentification]],
) -> None:
    for row, found in recorded:
        profile = find(row["profile"], found.identity.dialect)
        drafted = draft("x", found.identity, profile)
        # What a row's known faults did is none of its profile's business.
        assert "knobs:" not in drafted or {"findings", "dated"} & row.keys(), row["file"]


@pytest.mark.captures
def test_inline_thinking_of_a_hosted_model_is_thinking() -> None:
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    path = Path(folder, "hosted/hf_together_r1_inline_think.sse")
    (stream,) = check_recording(
        open_recording(path), RULEBOOK, CheckChoices(profile="together", keep=True)
    )
    found = {
        kind: "".join(e.data["text"] for e in stream.events if e.type == kind)
        for kind in ("thinking.delta", "text.delta")
    }
    assert len(found["thinking.delta"]) > 1000
    assert found["text.delta"]
    assert "think>" not in "".join(found.values())
