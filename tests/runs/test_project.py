"""`conformance.yaml` as the command line reads it: defaults, targets, and every mistake."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

from conformance.core.configuration import CONFIGURATION, KEYS, NO_CONFIG
from conformance.core.errors import SpecError
from conformance.linting import lint_paths
from conformance.rules import document
from conformance.rules.project_document import project_entries
from conformance.runs.project import (
    KINDS_OF_TARGETS,
    TARGET_KEYS,
    Project,
    project_of,
    read_project,
)
from conformance.runs.project_linting import lint_projects

WHOLE: Final = """recordings: [recorded, more]
suites: [shipped, rules]
profile: profiles/own.yaml
expected-failures: expected.yaml
strict: true
reports: {html: report.html, junit: junit.xml}
targets:
  staging-1.2:
    url: http://127.0.0.1:8000/v1
    api: chat
    model: m
    without: [tools]
    profile: vllm
    api-key-env: STAGING_KEY
    headers: {x-tenant: TENANT}
    timeout: 30
  ours:
    client: python adapter.py
    pass: [HOME_OF_MODELS]
trust: runs
importers: []
"""


def project(text: str) -> Project:
    return project_of(document.parse(text, CONFIGURATION).mapping(KEYS))


def test_a_whole_file_is_read() -> None:
    found = project(WHOLE)
    plain = {key: setting.value for key, setting in found.settings.items()}
    assert plain == {
        "recordings": ("recorded", "more"),
        "suites": ("shipped", "rules"),
        "profile": "profiles/own.yaml",
        "expected-failures": "expected.yaml",
        "strict": True,
        "reports": ("html=report.html", "junit=junit.xml"),
    }
    staging, ours = found.targets["staging-1.2"].settings, found.targets["ours"].settings
    assert staging["headers"].value == ("x-tenant: TENANT",)
    assert (staging["api"].value, staging["timeout"].value) == (("chat",), 30)
    assert ours["pass"].value == ("HOME_OF_MODELS",)
    assert str(staging["api-key-env"].place) == "conformance.yaml:14:18"


WRONG: Final = [
    ("recording: x", "1:1: unknown key 'recording' (did you mean 'recordings'?)"),
    ("strict: maybe", "1:9: expected true or false, got 'maybe'"),
    ("profile: ../lax.yaml", "1:10: the path leads out of the folder of this file"),
    ("expected-failures: /etc/x.yaml", "1:20: the path leads out of the folder of this file"),
    ("recordings: [a, ~/b/../../..]", "1:17: the path leads out of the folder"),
    ("suites: [shipped, ../rules]", "1:19: the path leads out of the folder"),
    ("reports: {htm: a.html}", "1:11: unknown key 'htm' (did you mean 'html'?)"),
    ("reports: {html: ../a.html}", "1:17: the path leads out of the folder"),
    ("reports: {html: conftest.py}", "1:17: expected a file that ends in .html, and is not hidden"),
    ("reports: {text: .git/a.txt}", "1:17: expected a file that ends in .txt, and is not hidden"),
    ("targets: {a: {urls: x}}", "1:15: unknown key 'urls' (did you mean 'url'?)"),
    (
        "targets: {a: {model: x}}",
        "1:14: a target has one of url, asgi, gateway, app, agent, client",
    ),
    ("targets: {a: {url: x, client: y}}", "1:14: a target has one of url"),
    ("targets: {'a b': {url: x}}", "1:11: a target's name has letters"),
    ("targets: {a: {url: x, api: chatt}}", "1:28: expected one of chat, "),
    ("targets: {a: {url: x, without: [tool]}}", "1:33: expected one of thinking, tools"),
    ("targets: {a: {url: 'http://u:secret@x/'}}", "1:20: a URL with a password in it is refused"),
    ("targets: {a: {url: x, api-key-env: sk-secret}}", "1:36: expected the name of a variable"),
    ("targets: {a: {url: x, headers: {b: 'Bearer secret'}}}", "1:36: expected the name of a"),
    ("targets: {a: {client: x, pass: ['A=secret']}}", "1:33: expected the name of a variable"),
]


@pytest.mark.parametrize(("text", "line"), WRONG)
def test_a_mistake_is_one_line_with_its_place(text: str, line: str) -> None:
    with pytest.raises(SpecError) as caught:
        project(text)
    message = str(caught.value)
    assert message.startswith(f"conformance.yaml:{line}")
    assert "secret" not in message
    assert "\n" not in message


def test_a_link_leads_where_it_leads(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path)
    (inside / CONFIGURATION).write_text("recordings: link", encoding="utf-8")
    with pytest.raises(SpecError, match="leads out"):
        read_project(inside)


def test_variable_turns_the_file_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / CONFIGURATION).write_text("strict: true", encoding="utf-8")
    assert read_project(tmp_path).settings
    monkeypatch.setenv(NO_CONFIG, "1")
    assert (read_project(tmp_path), project_entries(tmp_path)) == (Project(), {})


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / CONFIGURATION
    for value in (True, False):
        file.write_text(f"strict: {str(value).lower()}", encoding="utf-8")
        assert read_project(tmp_path).settings["strict"].value is value


def test_lint_reads_it_where_it_lies(tmp_path: Path) -> None:
    file = tmp_path / "below" / CONFIGURATION
    file.parent.mkdir()
    for text, complaint in (
        ("suits: x", "unknown key 'suits'"),
        ("trust: nowhere", "no such file"),
    ):
        file.write_text(text, encoding="utf-8")
        (problem,) = lint_projects([tmp_path])
        assert complaint in problem.message
        assert problem.place.file.startswith(str(file.parent))
    file.write_text("strict: true", encoding="utf-8")
    assert [*lint_projects([tmp_path]), *lint_paths([file])] == []


def schema() -> dict[str, Any]:
    text = files("conformance.schemas").joinpath("project.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_schema_knows_the_keys_that_the_reader_knows() -> None:
    assert set(schema()["properties"]) == set(KEYS)
    target = schema()["$defs"]["target"]
    assert set(target["properties"]) == TARGET_KEYS
    assert [each["required"] for each in target["oneOf"]] == [[key] for key in KINDS_OF_TARGETS]


def test_the_schema_takes_what_the_reader_takes() -> None:
    jsonschema_rs.meta.validate(schema())
    validator = jsonschema_rs.validator_for(schema())
    assert validator.is_valid(document.parse(WHOLE, CONFIGURATION).plain())
    of_paths = ("leads out", "ends in", "a password")  # what no schema knows
    known = [text for text, line in WRONG if not any(each in line for each in of_paths)]
    plain = [document.parse(text, CONFIGURATION).plain() for text in known]
    assert [each for each in plain if validator.is_valid(each)] == []
