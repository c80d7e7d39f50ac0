"""Every named defect is caught by the rules that it lists, and by no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import load_suites
from conformance.rules.verdicts import Verdict
from reference_impl.server.__main__ import main
from reference_impl.server.app import application
from reference_impl.server.defects import DEFECTS, Api
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.actor import Actor
from tests.reference.scenes import SCENES, SETTINGS, failing, judged, play, recorded

RULES = {rule.id for suite in load_suites() for rule in suite.rules}
PLANTED = [(name, api) for name, defect in DEFECTS.items() for api in defect.rules]


@pytest.mark.one_in(7)
@pytest.mark.parametrize(("name", "api"), PLANTED)
def test_defect_fails_the_rules_it_lists(name: str, api: Api, tmp_path: Path) -> None:
    defect = DEFECTS[name]
    app = application(Service(Actor(), SETTINGS.get(api, Settings()), defect=defect))
    played = asyncio.run(play(app, api, SCENES[api](), "actor"))
    report = judged(recorded(api, played, tmp_path / "all.cassette.jsonl"))
    assert failing(report) == set(defect.rules[api])
    assert Verdict.ERROR not in report.verdicts.values()


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_lists_rules_that_exist(name: str) -> None:
    defect = DEFECTS[name]
    assert all(defect.rules.values())
    assert set(defect.all_rules) <= {*RULES, *ADDED_RULES}


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_hooks_in_at_one_place(name: str) -> None:
    defect = DEFECTS[name]
    hooks = (defect.events, defect.wires, defect.frames)
    assert sum(hook is not None for hook in hooks) == 1


def test_there_are_defects_enough() -> None:
    assert len(DEFECTS) >= 20


def test_defects_are_listed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-defects"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == list(DEFECTS)
    rules = [set(line.split("\t")[2].split()) for line in lines]
    assert rules == [set(defect.all_rules) for defect in DEFECTS.values()]


def test_unknown_defect_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--defect", "leak-everything"])
    assert ended.value.code == 2
    assert "no defect 'leak-everything'" in capsys.readouterr().err
