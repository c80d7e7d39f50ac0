"""Located YAML: what is resolved, what is refused, and where an error says it stands."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.errors import SpecError, UsageError
from conformance.rules import document
from conformance.rules.document import Node, load, nearest, parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HAS_C = hasattr(yaml, "CSafeLoader")


@pytest.fixture(params=["libyaml", "pure"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with each parser that a machine may have."""
    if request.param == "pure":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not HAS_C:
        pytest.skip("PyYAML was built without libyaml")
    name: str = request.param
    return name


def read(text: str) -> Node:
    return parse(text, "f.yaml")


def plain(text: str) -> Any:
    return read(text).plain()


def refused(text: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        read(text)
    return caught.value


STRINGS = (
    "no", "on", "Yes", "y", "True", "NULL", "~", "1:30", "0o7", "007", "0x10", "+5", "1_000",
    "2026-11-20", "2026-11-20T10:00:00Z", "1.", ".5", "=", "1e", "-", "a b", "x:y", "$knob",
)  # fmt: skip
VALUES: Mapping[str, object] = {
    "true": True, "false": False, "null": None, "0": 0, "-0": 0, "12": 12, "-3": -3,
    "1.50": 1.5, "1e3": 1000.0, "-2.5E-1": -0.25,
    '"5"': "5", "'true'": "true", '""': "", '"\\u00e9\\t"': "é\t", "[]": [], "{}": {},
}  # fmt: skip


@pytest.mark.parametrize("text", [text for text in STRINGS if text != "-"])
def test_yaml_traps_stay_strings(text: str, loader: str) -> None:
    assert loader
    assert plain(f"key: {text}") == {"key": text}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_json_scalars_are_resolved(text: str, value: object, loader: str) -> None:
    assert loader
    found = plain(f"key: {text}")["key"]
    assert (found, type(found)) == (value, type(value))


REFUSED = {
    "": (1, 1, "the file is empty"),
    "# only a comment\n": (1, 1, "the file is empty"),
    "a: 1\na: 2\n": (2, 1, "key 'a' already appears in line 1"),
    "x: {b: 1, 'b': 2}": (1, 11, "key 'b' already appears in line 1"),
    "a: &x 1\n": (1, 4, "anchors are not allowed"),
    "a: &x {b: 1}\n": (1, 4, "anchors are not allowed"),
    "a: [*x]": (1, 5, "aliases are not allowed"),
    "a: !!str 1": (1, 4, "tags are not allowed"),
    'a: ! "5"': (1, 4, "tags are not allowed"),
    "a: !<x> [1]": (1, 4, "tags are not allowed"),
    "a: {b: 1}\n<<: {c: 1}\n": (2, 1, "merge keys are not allowed"),
    "a: 1\n---\nb: 1\n": (2, 1, "a second document in one file"),
    "%YAML 1.1\n---\na: 1\n": (1, 1, "directives are not allowed"),
    "%TAG ! !x\n---\na: 1\n": (1, 1, "directives are not allowed"),
    "# x\n\n%FOO\n---\na: 1\n": (3, 1, "directives are not allowed"),
    "a: .nan": (1, 4, ".nan is not a JSON number"),
    "a: -.inf": (1, 4, "-.inf is not a JSON number"),
    "a: NaN": (1, 4, "NaN is not a JSON number"),
    "a: 1e999": (1, 4, "number out of range"),
    "a: " + "9" * 65: (1, 4, "number out of range"),
    "a:\n  5: x": (2, 3, "keys are strings"),
    "true: x": (1, 1, "keys are strings"),
    "[a]: x": (1, 1, "keys are strings"),
    "a:\nb: 1": (1, 3, "a value is missing here"),
    "a: [1, ]\nb: -\n": (2, 4, "not valid YAML"),
    "a:\n\tb: 1": (2, 1, "tab in the text"),
    "a: 'x\ty'": (1, 6, "tab in the text"),
    "a: x\u2028y": (1, 5, "character U+2028 in the text"),
    "a: x\x00y": (1, 5, "character U+0000 in the text"),
    "a: x\ud800": (1, 5, "character U+D800 in the text"),
    'a: "\\ud83e\\udde0"': (1, None, ""),
    'a: "\\UFFFFFFFF"': (None, None, ""),
    "? a": (1, None, "a value is missing here"),
    "---\n ": (2, None, "a value is missing here"),
    "a: [1, 2": (None, None, "not valid YAML"),
    "a: b: c": (1, 5, "not valid YAML"),
    "a: 'x": (None, None, "not valid YAML"),
    "- a\nb: 1": (2, 1, "not valid YAML"),
    "a: @x": (1, 4, "not valid YAML"),
    "[" * 65 + "]" * 65: (1, 65, "nested deeper than 64 levels"),
    # libyaml reads ahead and meets the depth; the pure parser meets the second document.
    '{"a": 1}\n' + "[" * 5000: (2, 1, "not valid YAML: expected"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_subset_leaves_out_is_refused_where_it_stands(text: str, loader: str) -> None:
    assert loader
    line, column, message = REFUSED[text]
    error = refused(text)
    assert error.place is not None
    assert error.message.startswith(message)
    assert "\n" not in str(error)
    assert line is None or error.place.line == line
    assert column is None or error.place.column == column


def test_error_carries_the_line_and_a_hint() -> None:
    error = refused("a: 1\nbb: {c: 2, c: 3} # why\n")
    assert str(error) == "f.yaml:2:12: key 'c' already appears in line 2"
    assert error.text == "bb: {c: 2, c: 3} # why"
    assert refused("a:\n").hint == 'write null, "" or {}'


def test_depth_64_is_read(loader: str) -> None:
    assert loader
    assert json.dumps(plain("[" * 64 + "]" * 64)) == "[" * 64 + "]" * 64


@pytest.mark.parametrize("breaks", ["\n", "\r\n", "\r"])
def test_places_hold_under_every_line_break(breaks: str, loader: str) -> None:
    assert loader
    node = read(breaks.join(["\ufeff# é", "a:", "  - b", "  - {c: 'é', d: 1}"]))
    item = node.required("a").sequence()[1]
    assert (str(item.place), str(item.key("d").place)) == ("f.yaml:4:5", "f.yaml:4:14")
    assert str(item.required("d").place) == "f.yaml:4:17"


def test_node_count_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_NODES", 3)
    assert plain("[1, 2]") == [1, 2]
    assert refused("[1, 2, 3]").message == "more than 3 values"


def test_alias_bomb_is_refused_at_the_first_anchor() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(9))
    assert refused(bomb).message == "anchors are not allowed"


# --- readers


RECORD = "s: text\ni: 3\nf: 1.5\nt: true\nn: null\ne: ''\nl: [1, a]\nm: {k: v}\n"


def test_readers_give_what_is_there() -> None:
    node = read(RECORD)
    assert node.required("s").string() == "text"
    assert node.required("i").integer() == 3
    assert [node.required(k).number() for k in "if"] == [3, 1.5]
    assert node.required("t").boolean() is True
    assert [item.value for item in node.required("l").sequence()] == [1, "a"]
    assert list(node.mapping()) == list("siftnelm")
    assert node.get("absent") is None
    assert node.required("s").one_of(("text", "other")) == "text"
    assert node.plain()["n"] is None


WRONG = (
    ("i", "string", "2:4: expected a string, got 3 (put it in quotes)"),
    ("e", "string", "6:4: expected a string, got an empty one"),
    ("t", "integer", "4:4: expected an integer, got true"),
    ("f", "integer", "3:4: expected an integer, got 1.5"),
    ("t", "number", "4:4: expected a number, got true"),
    ("i", "boolean", "2:4: expected true or false, got 3"),
    ("m", "sequence", "8:4: expected a list, got a mapping"),
    ("n", "mapping", "5:4: expected a mapping, got null"),
    ("l", "string", "7:4: expected a string, got a list"),
)


@pytest.mark.parametrize(("key", "reader", "message"), WRONG)
def test_readers_say_what_came(key: str, reader: str, message: str) -> None:
    node = read(RECORD).required(key)
    with pytest.raises(SpecError) as caught:
        getattr(node, reader)()
    assert str(caught.value) == f"f.yaml:{message}"


def test_unknown_key_names_the_nearest() -> None:
    with pytest.raises(SpecError) as caught:
        read("id: x\nlevl: MUST\n").mapping(known={"id", "level"})
    assert str(caught.value) == "f.yaml:2:1: unknown key 'levl' (did you mean 'level'?)"


def test_unknown_key_far_from_all_lists_the_known() -> None:
    with pytest.raises(SpecError, match=r"unknown key 'zzz' \(known: id, level\)"):
        read("zzz: 1").mapping(known={"id", "level"})


def test_missing_key_is_an_error_at_the_mapping() -> None:
    with pytest.raises(SpecError, match=r"^f.yaml:2:3: key 'b' is missing$"):
        read("x:\n  a: 1").required("x").required("b")


def test_key_node_of_a_missing_key_is_an_error() -> None:
    with pytest.raises(SpecError, match="key 'b' is missing"):
        read("a: 1").key("b")


def test_wrong_choice_names_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"one of MUST, MAY, got 'MUTS' \(did you mean 'MUST'\?\)"):
        read("MUTS").one_of(("MUST", "MAY"))


def test_quoting_is_kept() -> None:
    items = read("[5, '5', \"a b\", a]").sequence()
    assert [item.quoted for item in items] == [False, True, True, False]


def test_long_values_are_clipped_in_messages() -> None:
    error = refused(f"{{{'k' * 5000}: 1, {'k' * 5000}: 2}}")
    assert len(str(error)) < 200
    assert len(error.text) <= 400


def test_nearest_is_quiet_where_nothing_is_near() -> None:
    assert nearest("levle", ("level", "says")) == "did you mean 'level'?"
    assert nearest("xyz", ("level", "says")) == ""
    assert nearest("l" * 1000, ("l" * 999,)) == ""


# --- files


def test_file_is_loaded_with_its_name_in_places(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: {b: 1}\n", encoding="utf-8")
    assert str(load(path).required("a").place) == f"{path}:1:4"


def test_file_that_is_not_utf8_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: \xc3\xa9\xff\n")
    with pytest.raises(SpecError, match=r"x\.yaml \(byte 5\): not UTF-8"):
        load(path)


def test_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"#" * (document.MAX_BYTES + 1))
    with pytest.raises(SpecError, match="larger than"):
        load(path)
    with pytest.raises(SpecError, match="longer than"):
        read("#" * (document.MAX_BYTES + 1))


def test_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the file: No such file"):
        load(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match="cannot read the file"):
        load(f"{tmp_path}/a\0b")


def test_yaml_is_imported_on_first_use_only() -> None:
    code = "import sys, conformance.rules.document; sys.exit('yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": "."})
    assert done.returncode == 0


# --- properties


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | texts
)
leaves = leaves | st.floats(allow_nan=False, allow_infinity=False)
trees = st.recursive(
    leaves, lambda t: st.lists(t, max_size=4) | st.dictionaries(texts, t, max_size=4), max_leaves=12
)


def _both(text: str) -> list[object]:
    """Outcome per parser: the tree with its places, or the line of the error."""
    outcomes: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        for _ in range(2):
            try:
                outcomes.append(read(text))
            except SpecError as err:
                outcomes.append(err.place.file if err.place else None)
            patch.delattr(yaml, "CSafeLoader", raising=False)
    return outcomes


@given(trees)
def test_ascii_json_is_read_as_json_does(tree: object) -> None:
    text = json.dumps(tree)
    if "\\ud" not in text:  # YAML has no surrogate pairs
        assert plain(text) == json.loads(text)


@given(trees, st.sampled_from([False, True, None]))
def test_dumped_yaml_reads_back_the_same_with_both_parsers(tree: object, flow: bool | None) -> None:
    first, second = _both(yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True))
    assert first == second


fragments = st.sampled_from(
    ["a", "b: 1", "- ", "\n", "\n  ", ": ", "[", "]", "{", "}", ", ", "'", '"', "#", " ", "|\n",
     "?", "&x ", "*x", "!t ", "---\n", "%", "<<", "1.5", "null", "é", "\\", "\r", "@", ">-\n"]
)  # fmt: skip


@given(st.lists(fragments, max_size=14).map("".join))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    first, second = _both(text)
    if isinstance(first, Node) and isinstance(second, Node):
        assert first == second
    assert all(isinstance(outcome, Node) or outcome == "f.yaml" for outcome in (first, second))
