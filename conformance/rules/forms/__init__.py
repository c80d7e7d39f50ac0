"""The forms of rules, one a module; a rule has exactly one of them.

A new form is its module and a line here; `docs/rule-language.md` has a section for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.rules.forms.base import Form
from conformance.rules.forms.carries import Carries
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.each import Each
from conformance.rules.forms.fold import Fold
from conformance.rules.forms.grammar import Grammar
from conformance.rules.forms.never import Never
from conformance.rules.forms.reading import FormReader
from conformance.rules.forms.response import Answer
from conformance.rules.forms.timing import Timing
from conformance.rules.forms.values import Values
from conformance.rules.node import Node

FORMS: Final[Mapping[str, type[Form]]] = {
    form.key: form
    for form in (Grammar, Never, Answer, Values, Each, Carries, Fold, Timing, Compare)
}


def read_form(reader: FormReader, rule: Node) -> Form:
    """The form of a rule; exactly one of FORMS must be there."""
    entries = rule.mapping()
    found = [name for name in FORMS if name in entries]
    if len(found) != 1:
        forms = ", ".join(FORMS)
        came = " and ".join(found) or "none"
        raise rule.error(f"a rule has exactly one form ({forms}), got {came}")
    return FORMS[found[0]].read(reader, rule, entries[found[0]])
