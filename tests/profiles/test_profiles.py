"""Profiles: what is inherited, what is refused and where, what ships, and what it was seen on."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from conformance.core import shipped
from conformance.core.errors import SpecError, UsageError
from conformance.dialects.base import Reading
from conformance.profiles.load import limits, load_profile
from conformance.profiles.lookup import available, find
from conformance.profiles.profile import laid_over, reading
from conformance.rules import document
from tests.each import each_row

SCHEMA = Path(shipped.__file__).parent.parent / "schemas" / "profile.schema.json"
DIALECTS = ("openai.chat", "openai.responses")
FILES = sorted((shipped.specs() / "profiles").glob("*/*.yaml"))
SHIPPED = sorted(((path.stem, path.parent.name) for path in FILES), key=lambda each: each[::-1])

# How a stream is read, or which of several names it uses: no value permits the others.
UNORDERED = {
    *("think_opened_by", "marker_close", "markers", "raw_event", "opt_in", "unseen"),
    "default_effort",
}

STRICT = """\
profile: strict
dialect: d
title: Strict
fields: {text: [c]}
promises: [p]
knobs:
  role: {value: once, says: "r", values: [once, repeated, any]}
  late: {value: false, says: "l", values: [false, true]}
  markers: {value: [], says: "m", values: {type: list, of: pair}}
  words: {value: [a], says: "w", values: {type: list}}
  most: {value: 3, says: "n", values: {type: integer}}
  models: {value: ".*", says: "o", side: client, values: {type: pattern}}
"""
SET = 'because: "b", seen: "1 of 1"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with a dialect `d` of its own."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "strict.yaml").write_text(STRICT, encoding="utf-8")
    return tmp_path


def write(folder: Path, name: str, text: str, head: str = "dialect: d\n") -> Path:
    path = folder / "d" / f"{name}.yaml"
    path.write_text(f"profile: {name}\n{head}{text}", encoding="utf-8")
    return path


def mistake(folder: Path, text: str) -> str:
    with pytest.raises(SpecError) as caught:
        load_profile(write(folder, "x", text))
    message = str(caught.value)
    assert message.startswith(f"{folder}/d/x.yaml:")
    return message.removeprefix(f"{folder}/d/x.yaml:")


# --- what is inherited


def test_strict_declares_the_knobs(folder: Path) -> None:
    profile = find("strict", "d", [folder])
    assert profile.knobs == {
        "role": "once", "late": False, "markers": [], "words": ["a"], "most": 3, "models": ".*",
    }  # fmt: skip
    assert profile.declared["role"].values == ("once", "repeated", "any")
    assert (profile.extends, profile.reasons, profile.title) == ("", {}, "Strict")


def test_profile_takes_over_what_it_does_not_set(folder: Path) -> None:
    write(folder, "a", f"knobs: {{role: {{value: repeated, {SET}}}, most: {{value: 4, {SET}}}}}\n")
    text = (
        f"extends: a\nfields: {{thinking: [r, s]}}\npromises: [p, q]\n"
        f"knobs: {{role: {{value: any, {SET}}}}}\n"
        f'overrides: {{s/r/one: {{level: off, {SET}}}, "s/r/two": {{level: MAY, {SET}}}}}\n'
    )
    profile = load_profile(write(folder, "b", text))
    assert (profile.knobs["role"], profile.knobs["most"], profile.knobs["late"]) == (
        "any",
        4,
        False,
    )
    assert profile.fields == {"text": ("c",), "thinking": ("r", "s")}
    assert profile.promises == ("p", "q")
    assert set(profile.reasons) == {"role", "most"}
    assert {rule: each.level for rule, each in profile.overrides.items()} == {
        "s/r/one": "off", "s/r/two": "MAY",
    }  # fmt: skip
    assert str(profile.overrides["s/r/one"].place) == f"{folder}/d/b.yaml:7:13"
    assert profile.extends == "a"


def test_profile_without_extends_extends_strict(folder: Path) -> None:
    assert load_profile(write(folder, "x", "")).extends == "strict"


def test_reading_is_built_from_the_knobs(folder: Path) -> None:
    knobs = f"knobs: {{markers: {{value: [[<t>, </t>]], {SET}}}}}\nfields: {{thinking: [a.b]}}\n"
    made = reading(load_profile(write(folder, "x", knobs)))
    assert made == Reading(
        markers=(("<t>", "</t>"),), fields={"text": ("c",), "thinking": ("a.b",)}
    )


def test_reading_knows_prompts_that_open_and_the_last_close(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "profile: mine\ndialect: openai.chat\nknobs:\n"
        f"  think_opened_by: {{value: prompt, {SET}}}\n"
        f"  marker_close: {{value: last, {SET}}}\n",
        encoding="utf-8",
    )
    made = reading(load_profile(path))
    assert (made.opened_by_prompt, made.last_close) == (True, True)
    assert reading(find("strict", "openai.responses")) == Reading()


# --- clients


def test_client_is_laid_over_the_server_that_it_met(folder: Path) -> None:
    server = f"promises: [q]\nknobs: {{role: {{value: any, {SET}}}, models: {{value: a, {SET}}}}}\n"
    write(folder, "s", server)
    write(folder, "c", f"side: client\npromises: [r]\nknobs: {{models: {{value: b, {SET}}}}}\n")
    made = find("c/s", "d", [folder])
    assert made == laid_over(find("c", "d", [folder]), find("s", "d", [folder]))
    assert (made.name, made.side, made.promises) == ("c/s", "client", ("p", "r"))
    assert (made.knobs["role"], made.knobs["models"]) == ("any", "b")


def test_client_that_sets_no_knob_takes_none_from_the_server(folder: Path) -> None:
    write(folder, "s", f"knobs: {{models: {{value: a, {SET}}}}}\n")
    write(folder, "c", "side: client\n")
    assert find("c/s", "d", [folder]).knobs["models"] == ".*"


def test_side_is_inherited(folder: Path) -> None:
    write(folder, "c", "side: client\n")
    assert load_profile(write(folder, "e", "extends: c\n")).side == "client"
    assert load_profile(write(folder, "s", "")).side == "server"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("s/c", "profile 's' is a server's: it is laid over nothing"),
        ("c/../c", "no profile 'c/../c' for d"),
        ("c/nobody", "no profile 'nobody' for d"),
        ("/c", "no profile '/c' for d"),
    ],
)
def test_what_cannot_be_laid_over_another_is_refused(folder: Path, name: str, message: str) -> None:
    write(folder, "s", "")
    write(folder, "c", "side: client\n")
    with pytest.raises(UsageError) as caught:
        find(name, "d", [folder])
    assert str(caught.value).startswith(message)


def test_client_of_another_dialect_is_refused(folder: Path) -> None:
    write(folder, "c", "side: client\n")
    client = find("c", "d", [folder])
    with pytest.raises(
        UsageError, match=r"profile 'c' is for d, but the server speaks openai\.chat"
    ):
        laid_over(client, find("strict", "openai.chat"))


# --- what is refused, and where

WRONG = (
    (f"knobs: {{rol: {{value: once, {SET}}}}}", "3:9: unknown knob 'rol' (did you mean 'role'?)"),
    (
        f"knobs: {{role: {{value: onec, {SET}}}}}",
        "3:23: knob 'role' is one of once, repeated, any, got 'onec' (did you mean 'once'?)",
    ),
    (f"knobs: {{late: {{value: 0, {SET}}}}}", "3:23: knob 'late' is one of false, true, got 0"),
    (f"knobs: {{most: {{value: a, {SET}}}}}", "3:23: expected an integer, got 'a'"),
    (f"knobs: {{words: {{value: [1], {SET}}}}}", "3:25: expected a string, got 1"),
    (f"knobs: {{markers: {{value: [[a]], {SET}}}}}", "3:27: expected two strings, got 1"),
    (f"knobs: {{markers: {{value: [ab], {SET}}}}}", "3:27: expected a list, got 'ab'"),
    ("knobs: {role: {value: any, seen: s}}", "3:15: key 'because' is missing"),
    ("knobs: {role: {value: any, because: s}}", "3:15: key 'seen' is missing"),
    ("knobs: {role: any}", "3:15: expected a mapping, got 'any'"),
    (f"knobs: {{role: {{value: any, vlue: 1, {SET}}}}}", "3:28: unknown key 'vlue'"),
    ("overrides: {a/b: {level: off, because: s}}", "3:18: key 'seen' is missing"),
    (f"overrides: {{a/b: {{level: must, {SET}}}}}", "3:26: expected one of off, MUST, SHOULD, MAY"),
    (
        f"overrides: {{a/b: {{level: off, {SET}}}, a/b: {{}}}}",
        "3:62: key 'a/b' already appears in line 3",
    ),
    ("fields: {thinkng: [a]}", "3:10: unknown key 'thinkng' (did you mean 'thinking'?)"),
    ("fields: {text: a}", "3:16: expected a list"),
    ("promises: [1]", "3:12: expected a string"),
    ("knob: {}", "3:1: unknown key 'knob' (did you mean 'knobs'?)"),
    ("extends: strikt", "3:10: no profile 'strikt' for d (did you mean 'strict'?)"),
    ("extends: ../strict", "3:10: no profile '../strict' for d"),
    ("extends: x", "3:10: profile 'x' extends itself, through 1 file(s)"),
    ("side: us", "3:7: expected one of server, client, got 'us'"),
    (
        f"side: client\nknobs: {{role: {{value: any, {SET}}}}}",
        "4:9: knob 'role' says how a server speaks (a client's knobs: models)",
    ),
    (
        "side: client\nfields: {text: [c]}",
        "4:1: 'fields' is about servers, and this profile is a client's",
    ),
    (f"knobs: {{models: {{value: '(', {SET}}}}}", "3:25: '(' is no regular expression"),
)


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_mistake_is_named_where_it_stands(folder: Path, text: str, message: str) -> None:
    assert mistake(folder, text).startswith(message)


def test_strict_has_no_overrides(folder: Path) -> None:
    (folder / "d" / "strict.yaml").write_text(f"{STRICT}overrides: {{}}\n", encoding="utf-8")
    with pytest.raises(SpecError, match="unknown key 'overrides'"):
        find("strict", "d", [folder])


def test_cycle_through_two_files_is_refused(folder: Path) -> None:
    write(folder, "a", "extends: b\n")
    write(folder, "b", "extends: a\n")
    with pytest.raises(SpecError, match=r"b\.yaml:3:10: profile 'a' extends itself, through 2"):
        find("a", "d", [folder])


def test_long_chains_are_refused(folder: Path) -> None:
    for number in range(18):
        write(folder, f"p{number}", f"extends: p{number + 1}\n" if number < 17 else "")
    assert find("p3", "d", [folder]).extends == "p4"
    with pytest.raises(SpecError, match="more than 16 profiles extend each other"):
        find("p0", "d", [folder])


def test_file_named_for_another_profile_is_refused(folder: Path) -> None:
    write(folder, "a", "").rename(folder / "d" / "b.yaml")
    with pytest.raises(SpecError, match="named for 'b' for d, but says 'a' for d"):
        find("b", "d", [folder])


# --- where a name leads


def test_users_profile_comes_first_and_may_extend_the_shipped_one(tmp_path: Path) -> None:
    text = f"extends: openrouter\nknobs: {{done: {{value: optional, {SET}}}}}\n"
    path = tmp_path / "openrouter.yaml"
    path.write_text(f"profile: openrouter\ndialect: openai.chat\n{text}", encoding="utf-8")
    profile = find("openrouter", "openai.chat", [tmp_path])
    assert (profile.file, profile.knobs["done"]) == (str(path), "optional")
    assert profile.knobs["finish_count"] == "many"
    assert find("openrouter", "openai.responses", [tmp_path]).knobs["done"] == "required"


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no profile 'openruter' for openai.chat \(did you mean"):
        find("openruter", "openai.chat")


def test_a_mistyped_dialect_is_what_is_suggested() -> None:
    match = r"no profile 'strict' for openai.cht \(did you mean 'openai.chat'\?\)$"
    with pytest.raises(UsageError, match=match):
        find("strict", "openai.cht")


def test_unknown_name_of_another_dialect_says_so(folder: Path) -> None:
    write(folder, "mine", "")
    with pytest.raises(UsageError, match="'mine' is for d"):
        find("mine", "openai.chat", [folder])


@pytest.mark.parametrize("name", ["../strict", "/etc/passwd", "", "a/b", ".", "strict\n", "a" * 99])
def test_name_never_leads_out_of_the_folders(name: str) -> None:
    with pytest.raises(UsageError, match="no profile"):
        find(name, "openai.chat")


def test_missing_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        find("strict", "openai.chat", [tmp_path / "none"])


def test_available_lists_users_before_shipped(folder: Path) -> None:
    write(folder, "mine", "")
    (folder / "conformance.yaml").write_text("suites: [x]\n", encoding="utf-8")
    (folder / "own.yaml").write_text("profile: xai\ndialect: openai.chat\n", encoding="utf-8")
    listed = {(name, dialect): path for name, dialect, path in available([folder])}
    assert set(listed) == {("mine", "d"), ("strict", "d"), *SHIPPED}
    assert listed["xai", "openai.chat"] == folder / "own.yaml"


# --- what is allowed but wrong


def test_limits_are_reported_with_places(folder: Path) -> None:
    rules = "".join(f"  s/r{n}: {{level: off, {SET}}}\n" for n in range(4))
    write(folder, "a", f"promises: [q]\noverrides:\n{rules}")
    text = (
        f"extends: a\npromises: [q]\nknobs:\n  role: {{value: once, {SET}}}\n"
        f"  late: {{value: true, {SET}}}\n"
        f"overrides:\n  s/r0: {{level: off, {SET}}}\n  s/r1: {{level: MAY, {SET}}}\n"
    )
    found = [str(error) for error in limits(write(folder, "b", text))]
    assert [line.removeprefix(f"{folder}/d/") for line in found] == [
        "b.yaml:6:9: knob 'role' has no effect: 'a' has the same value",
        "b.yaml:9:9: override of 's/r0' has no effect: 'a' has it too",
        "b.yaml:4:12: promise 'q' has no effect: 'a' has it too",
    ]
    (error,) = limits(folder / "d" / "a.yaml")
    assert str(error).startswith(f"{folder}/d/a.yaml:8:3: more than 3 overrides")


# --- what ships


@each_row(SHIPPED)
@pytest.mark.every_run
def test_shipped_profile_loads_and_keeps_the_limits(name: str, dialect: str) -> None:
    profile = find(name, dialect)
    assert profile.title
    assert limits(profile.file) == ()


@each_row(SHIPPED)
def test_shipped_profile_is_valid_by_the_schema(name: str, dialect: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema_rs.meta.validate(schema)
    plain = document.load(find(name, dialect).file).plain()
    assert [str(error) for error in jsonschema_rs.validator_for(schema).iter_errors(plain)] == []


NO_PROFILE = (
    "knob: {}",
    "knobs: {role: any}",
    "knobs: {role: {value: any, seen: s}}",
    f"knobs: {{role: {{value: any, vlue: 1, {SET}}}}}",
    f"overrides: {{a/b: {{level: must, {SET}}}}}",
    "overrides: {a/b: {level: off, because: s}}",
    "fields: {thinkng: [a]}",
    "promises: [1]",
    "extends: ../strict",
    "side: us",
    "side: client\nfields: {text: [c]}",
)


@pytest.mark.parametrize("text", NO_PROFILE)
def test_schema_refuses_what_no_profile_may_say(text: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    plain = document.parse(f"profile: x\ndialect: d\n{text}", "x").plain()
    assert not jsonschema_rs.is_valid(schema, plain)


def test_nothing_else_ships() -> None:
    assert [(name, dialect) for name, dialect, _ in available()] == SHIPPED


@pytest.mark.parametrize("dialect", DIALECTS)
def test_lenient_permits_the_most(dialect: str) -> None:
    profile = find("lenient", dialect)
    for name, knob in profile.declared.items():
        if knob.values and name not in UNORDERED:
            assert profile.knobs[name] == knob.values[-1], name
    assert profile.knobs["text_markers"] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_strict_stands_first_where_values_are_ordered(dialect: str) -> None:
    silent = {
        "usage_placement",
        "content_during_reasoning",
        "boundary_whitespace",
        "thinking_field",
    }
    if dialect == "anthropic.messages":
        # Stricter than the documentation, which leaves the one open and tells of the other.
        silent |= {"reasoning_tokens", "interleaved"}
    for name, knob in find("strict", dialect).declared.items():
        if knob.values and name not in silent:
            assert knob.strict == knob.values[0], name
