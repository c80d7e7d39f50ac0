"""The review of levels names rules that there are, with the level that they have."""

from __future__ import annotations

import re

from conformance.judging.rulebook import Rulebook
from tests.docs.blocks import ROOT

ROW = re.compile(r"^\| `([a-z/-]+)` \| (MUST|SHOULD|MAY) \|", re.MULTILINE)


def test_levels_of_the_review_are_those_of_the_rules() -> None:
    reviewed = dict(ROW.findall((ROOT / "docs" / "levels.md").read_text(encoding="utf-8")))
    levels = {rule.id: str(rule.level) for rule in Rulebook.load().rules}
    assert reviewed
    assert reviewed == {rule: levels.get(rule) for rule in reviewed}
