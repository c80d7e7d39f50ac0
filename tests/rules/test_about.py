"""How one text became another, and what of a breach is cleaned."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.rules.about import About, Change
from conformance.rules.forms.differences import first_difference

GAVE: Final = "c2lnbmVk"


@pytest.mark.parametrize(
    ("has", "change"),
    [
        ("", Change.LOST),
        ("c2ln", Change.CUT),
        (GAVE + "IQ", Change.LONGER),
        ("QUFB", Change.BEGINNING),
        ("c2lXXX", Change.OTHER),
    ],
)
def test_how_one_text_became_another(has: str, change: Change) -> None:
    assert first_difference(GAVE, has).change is change
    assert first_difference([{"data": GAVE}], [{"data": has}]).change is change


def test_only_texts_become_others() -> None:
    for had, has in (([GAVE], []), ({"data": GAVE}, {}), (1, 2)):
        assert first_difference(had, has).change is Change.NONE


def test_what_fields_hold_is_cleaned() -> None:
    about = About(fields=(("id", "sk-1"), ("type", None)))
    assert about.cleaned(lambda _: "…").fields == (("id", "…"), ("type", None))
