"""Who sent a stream: certain, guessed or unknown; drafted profiles; what check makes of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import open_recording
from conformance.cli import main
from conformance.core.events import Event
from conformance.dialects.openai_chat.private_fields import PrivateFields
from conformance.identify import Identity, Witness, draft, named
from conformance.judging.rulebook import Rulebook
from conformance.profiles.fingerprints import Fingerprint, Signs
from conformance.profiles.load import limits, load_profile
from conformance.profiles.lookup import find, fingerprints
from conformance.recordings.check import CheckChoices, check_paths, check_recording, choose_dialect
from conformance.recordings.identification import ExchangeIdentification, identify_exchange
from conformance.rules.alias import Alias
from conformance.rules.verdicts import Verdict

CHAT = "openai.chat"
TABLE: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent.parent / "captures" / "table.yaml").read_text(encoding="utf-8")
)
RULEBOOK = Rulebook.load()


def chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **more}


PRIVATE = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"my_reasoning": "let me see, "}),
    chunk({"my_reasoning": "two and two"}),
    chunk({"content": "Four."}),
    chunk({}, "stop", created=2),
]
GROQ = [chunk({"role": "assistant", "content": "Hi"}, x_groq={"id": "r"}), chunk({}, "stop")]
EMPTY = {"id": "", "system_fingerprint": "", "service_tier": ""}
SNOWFLAKE = [chunk({"role": "assistant", "content": "Hi"}, **EMPTY), chunk({}, "stop", **EMPTY)]


def written(path: Path, chunks: list[dict[str, Any]]) -> Path:
    lines = [f"data: {json.dumps(each)}\n\n" for each in chunks]
    path.write_text("".join([*lines, "data: [DONE]\n\n"]), encoding="utf-8")
    return path


def identified(path: Path, dialect: str | None = None) -> ExchangeIdentification:
    recording = open_recording(path)
    exchange = recording.exchanges[0]
    return identify_exchange(recording, exchange, choose_dialect(exchange, dialect), RULEBOOK)


# --- certain, a guess, or none


def sign(profile: str, *, weak: bool = False, gateway: bool = False) -> Fingerprint:
    return Fingerprint(profile, "s", weak, Alias("e", "chat.chunk"), gateway)


NAMED: tuple[tuple[list[Fingerprint], str | None, str], ...] = (
    ([], None, "none"),
    ([sign("a")], "a", "certain"),
    ([sign("a"), sign("a")], "a", "certain"),
    ([sign("b", weak=True), sign("b", weak=True), sign("a")], "a", "certain"),
    ([sign("a", weak=True)], "a", "guess"),
    ([sign("a", weak=True), sign("b", weak=True), sign("b", weak=True)], "b", "guess"),
    ([sign("a", weak=True), sign("b", weak=True)], None, "none"),
    ([sign("a"), sign("b"), sign("b")], "b", "guess"),
    ([sign("a"), sign("b")], None, "none"),
    ([sign("a"), sign("a"), sign("b", gateway=True)], "b", "certain"),
    ([sign("a"), sign("b", gateway=True, weak=True)], "a", "certain"),
    ([sign("a", gateway=True), sign("b", gateway=True)], None, "none"),
)


@pytest.mark.parametrize(("met", "profile", "certainty"), NAMED)
def test_profile_is_certain_only_where_one_is_named(
    met: list[Fingerprint], profile: str | None, certainty: str
) -> None:
    assert named(met) == (profile, certainty)


UUID = "6ddfbb47-99c8-1430-d8bb-896bd9e00a4e"
OPEN_ = {"delta": {"role": "assistant", "content": "Hi"}, "index": 0}
CHUNK = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
FILTERED = {"choices": [], "created": 0, "id": "", "model": "", "prompt_filter_results": []}
GROK = {**CHUNK, "id": UUID, "model": "grok-4-fast"}
DEEP = {**CHUNK, "id": UUID, "model": "deepseek-chat", "choices": []}
PASSED = {"reasoning_text": "so", "reasoning_opaque": "zz"}
USED = {"usage": {"total_tokens": 3}, "choices": [{"index": 0, "delta": {}}]}
CLAUDE = {"type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": []}
NOTHING = {"input_tokens": 0, "output_tokens": 0}
UNCACHED = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}

# What a stream holds, and who sent it.
SENT: tuple[tuple[str, dict[str, Any], str | None, str], ...] = (
    ("azure", {**FILTERED, "object": ""}, "azure", "certain"),
    ("copilot", FILTERED, "copilot", "certain"),
    ("xai", {**GROK, "choices": [OPEN_]}, "xai", "certain"),
    ("xai in a region", {**GROK, "id": f"{UUID}_us-east-1", "choices": [OPEN_]}, "xai", "certain"),
    (
        "grok on azure",
        {**GROK, "choices": [{**OPEN_, "content_filter_results": {}}]},
        "azure-grok",
        "certain",
    ),
    ("deepseek", {**DEEP, "system_fingerprint": "fp_8802369eaa"}, "deepseek", "certain"),
    ("a model of deepseek anywhere", DEEP, None, "none"),
    (
        "its usage anywhere",
        {**CHUNK, "choices": [], "usage": {"prompt_cache_hit_tokens": 0}},
        "deepseek",
        "guess",
    ),
    ("litellm", {**CHUNK, **USED}, "litellm", "certain"),
    (
        "cloudflare before sglang",
        {**CHUNK, "choices": [{**OPEN_, "matched_stop": None}], "usage": {"neurons": 0.1}},
        "cloudflare",
        "certain",
    ),
    (
        "databricks",
        {
            **CHUNK,
            "choices": [{"index": 0, "delta": {"content": [{"type": "reasoning", "summary": []}]}}],
        },
        "databricks",
        "guess",
    ),
    (
        "writer",
        {**CHUNK, "choices": [{"index": 0, "delta": {"graph_data": None, "llm_data": None}}]},
        "writer",
        "certain",
    ),
    (
        "transformers 4.57",
        {**CHUNK, "id": "req_0", "model": "m@main", "choices": [OPEN_]},
        "transformers-serve-4",
        "certain",
    ),
)


@pytest.mark.parametrize(
    ("chunk_", "profile", "certainty"),
    [row[1:] for row in SENT],
    ids=[row[0] for row in SENT],
)
def test_sender_of_a_chunk(
    chunk_: dict[str, Any], profile: str | None, certainty: str, tmp_path: Path
) -> None:
    identity = identified(written(tmp_path / "a.sse", [chunk_]), CHAT).identity
    assert (identity.profile, identity.certainty) == (profile, certainty)


def test_sender_is_told_by_the_order_of_its_keys(tmp_path: Path) -> None:
    ordered = {"id": "a", "created": 1, "model": "m", "object": CHUNK["object"], "choices": [OPEN_]}
    identity = identified(written(tmp_path / "a.sse", [ordered])).identity
    assert (identity.profile, identity.certainty) == ("litellm", "certain")


def test_gateway_is_named_by_its_own_signs_not_by_those_it_passes_on(tmp_path: Path) -> None:
    thought = {**CHUNK, "choices": [{"index": 0, "delta": PASSED}]}
    identity = identified(written(tmp_path / "a.sse", [thought, {**CHUNK, **USED}])).identity
    assert (identity.profile, identity.certainty) == ("litellm", "certain")
    assert set(identity.rivals) == {"copilot"}


LITELLM = "resp_bGl0ZWxsbTpj"
OF_LITELLM = {"type": "response.created", "response": {"id": LITELLM}, "model": "m"}
CREATED: tuple[tuple[dict[str, Any], str | None, str], ...] = (
    ({**OF_LITELLM, "sequence_number": 0}, "litellm", "certain"),
    (OF_LITELLM, "litellm-bridge", "certain"),
    (
        {
            "type": "response.completed",
            "response": {"id": "r", "usage": {"is_byok": False}},
        },
        "openrouter",
        "certain",
    ),
    (
        {
            "type": "response.completed",
            "response": {"id": f"resp_{'0a' * 24}", "output": [{"id": "rs_3yo6zy4vu4hq6iegqwhn1"}]},
        },
        "lmstudio",
        "certain",
    ),
    (
        {"type": "response.created", "response": {"id": "resp_req_0", "model": "m@main"}},
        "transformers-serve-4",
        "certain",
    ),
    (
        {"type": "response.created", "response": {"id": UUID, "model": "deepseek-r1"}},
        None,
        "none",
    ),
)


@pytest.mark.parametrize(("event", "profile", "certainty"), CREATED)
def test_sender_of_a_response(
    event: dict[str, Any], profile: str | None, certainty: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.sse"
    path.write_text(f"data: {json.dumps(event)}\n\n", encoding="utf-8")
    identity = identified(path).identity
    assert (identity.profile, identity.certainty) == (profile, certainty)


STARTED: tuple[tuple[str, dict[str, Any], str | None, str], ...] = (
    ("msg_01NRaPKFsBgXPbFwKfCoVHRG", CLAUDE, "anthropic", "certain"),
    ("msg_01NRaPKFsBgXPbFwKfCoVHRG", {**CLAUDE, "model": "mine"}, None, "none"),
    ("msg_bdrk_018UxgtQKbfUREYdX6y3Cf87", CLAUDE, "bedrock", "certain"),
    ("msg_vrtx_017KKNPUtd6PJZpJQ9mtj9rU", CLAUDE, "vertex", "certain"),
    (
        "msg_1",
        {**CLAUDE, "usage": {"inference_geo": "us", "service_tier": "standard"}},
        "anthropic",
        "guess",
    ),
    (f"msg_{UUID}", {**CLAUDE, "usage": {**NOTHING, **UNCACHED}}, "litellm", "certain"),
    (f"msg_{UUID}", {**CLAUDE, "usage": NOTHING}, None, "none"),
)


@pytest.mark.parametrize(("ident", "message", "profile", "certainty"), STARTED)
def test_sender_of_a_message(
    ident: str, message: dict[str, Any], profile: str | None, certainty: str, tmp_path: Path
) -> None:
    start = {"type": "message_start", "message": {"id": ident, **message}}
    path = tmp_path / "a.sse"
    path.write_text(f"event: message_start\ndata: {json.dumps(start)}\n\n", encoding="utf-8")
    identity = identified(path).identity
    assert (identity.profile, identity.certainty) == (profile, certainty)


def test_a_clean_stream_without_signs_has_no_profile(tmp_path: Path) -> None:
    identity = identified(written(tmp_path / "a.sse", PRIVATE)).identity
    assert (identity.profile, identity.certainty, identity.signs) == (None, "none", ())


def test_rivals_are_told_beside_the_profile() -> None:
    witness = Witness(CHAT, Signs(fingerprints(CHAT)))
    data = {"x_groq": {}, "obfuscation": "zz", "id": "a"}
    witness.see(Event("chat.chunk", data, 1, "wire"))
    identity = witness.identity()
    assert (identity.profile, identity.signs) == ("groq", ("x_groq",))
    assert identity.rivals == {"openai": ("obfuscation",)}


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
def test_private_field_carries_text_in_pieces(
    deltas: list[dict[str, Any]], paths: tuple[str, ...]
) -> None:
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
    {},
    optional={name: st.sampled_from(knob.values) for name, knob in KNOBS.items() if knob.values},
)


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
    ("there.yaml", "is there already, and is not overwritten"),
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
    told = capsys.readouterr().out
    assert "  profile   none: no fingerprint decides\n" in told
    assert "  private   my_reasoning: text that nobody reads\n" in told
    assert "created: varies (strict: constant)\n" in told


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


def test_a_guess_is_not_told_where_nothing_was_found(tmp_path: Path) -> None:
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
    told = [(SERVED_BY.get(row["file"], row["profile"]), found) for row, found in recorded]
    right = [host == found.identity.profile for host, found in told]
    assert sum(right) / len(right) >= 0.9
    assert not [
        found.file
        for host, found in told
        if found.identity.certainty == "certain" and found.identity.profile != host
    ]


@pytest.mark.captures
def test_own_profile_permits_what_was_seen(
    recorded: list[tuple[dict[str, Any], ExchangeIdentification]],
) -> None:
    for row, found in recorded:
        profile = find(row["profile"], found.identity.dialect)
        drafted = draft("x", found.identity, profile)
        # What a row's known faults did is none of its profile's business.
        assert "knobs:" not in drafted or row.get("findings"), row["file"]


@pytest.mark.captures
def test_inline_thinking_of_a_hosted_model_is_thinking() -> None:
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    path = Path(folder, "hosted/hf_together_r1_inline_think.sse")
    (stream,) = check_recording(
        open_recording(path), RULEBOOK, CheckChoices(profile="together", keep=True)
    )
    said = {
        kind: "".join(e.data["text"] for e in stream.events if e.type == kind)
        for kind in ("thinking.delta", "text.delta")
    }
    assert len(said["thinking.delta"]) > 1000
    assert said["text.delta"]
    assert "think>" not in "".join(said.values())
