"""The pages about the rules say what the rules say, and say it in Markdown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cli.explain import write_pages
from conformance.recordings.examples import RuleExample
from conformance.report.pages import rule_index, rule_page
from conformance.report.silences import Silence
from conformance.rules.forms.fold import Fold
from conformance.rules.model import Applies, Suite
from conformance.rules.verdicts import Level
from tests.report.made import finding
from tests.report.made import rule as make_rule

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def texts(folder: Path) -> dict[str, str]:
    found = sorted(folder.rglob("*.md"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


RULE = make_rule(
    source=(
        {"spec": "https://example.org", "quote": "It\nends."},
        {"spec": "https://example.org/bare"},
        {"observed": "8 of 8 recordings"},
        {"advice": "clients wait for <it>"},
        {"breaks": "a client hangs"},
    )
)

GOLDEN = """\
# wire/chat/done

**MUST.** The stream ends with a [DONE] line.

Dialect openai.chat; judges the wire, since 0.1.0.

## Why

- <https://example.org>: “It ends.”
- <https://example.org/bare>
- Observed: 8 of 8 recordings
- Advice: clients wait for &lt;it>

## Who breaks

- a client hangs

## Passes

```text
data: [DONE]
```

## Fails

```text
data: {}
```

> expected text.delta or text.done after text.delta (event 7), got part.done

## Fix

Write the line before closing.
Send it last.

## Where it is legal

Speaks where the profile has `done`: `required` or `optional`. Whether a last line is sent.

- `x` (openai.chat) sets `done: forbidden`: it never sends one (seen: 8 of 8)
"""


def test_the_whole_page() -> None:
    silence = Silence("x", "openai.chat", "done: forbidden", "it never sends one", "8 of 8")
    example = RuleExample(("data: [DONE]",), ("data: {}",), finding())
    knobs = {"done": "Whether a last line is sent.", "other": "Not of this rule."}
    assert rule_page(RULE, [silence], example, knobs) == GOLDEN


def test_a_finding_is_shown_as_it_is() -> None:
    found = replace(finding(), message="'</think>' in text_a, *not* `b\\s` [c](#d)")
    page = rule_page(RULE, (), RuleExample((), ("data: {}",), found))
    assert "\n> '&lt;/think>' in text\\_a, \\*not\\* \\`b\\\\s\\` \\[c](#d)" in page


def test_a_quoted_link_leads_nowhere() -> None:
    page = rule_page(replace(RULE, source=({"advice": "see [here](#there)"},)))
    assert "- Advice: see [here]\\(#there)\n" in page


def test_empty_sections_are_left_out() -> None:
    bare = replace(
        RULE, source=(), hint="", fix="", dialects=(), applies=Applies(view="client"), id="a/b/c"
    )
    assert rule_page(bare) == (
        "# a/b/c\n\n**MUST.** The stream ends with a [DONE] line.\n\n"
        "Dialect any; judges what a client reports, since 0.1.0.\n"
    )


def test_a_knob_in_the_form_is_reported() -> None:
    masked = replace(RULE, form=Fold({"done": "item"}, "list", minus="$mask"), applies=Applies())
    page = rule_page(masked, knobs={"mask": "Fields that may differ."})
    assert "\nJudges by the knob `mask`. Fields that may differ.\n" in page


@pytest.mark.parametrize("line", ["```", "a `````` b", "\x1b[2J", "x\u202ey", "z" * 9999])
def test_a_stream_cannot_leave_its_block(line: str) -> None:
    lines = rule_page(RULE, (), RuleExample((line,))).splitlines()
    start = next(at for at, each in enumerate(lines) if re.fullmatch("`{3,}text", each))
    fence = lines[start].removesuffix("text")
    assert lines[start + 2] == fence
    assert fence not in lines[start + 1]
    assert lines[start + 1].isprintable()
    assert len(lines[start + 1]) < 200


def test_index_links_to_every_page() -> None:
    other = replace(RULE, id="wire/chat/two/words", level=Level.MAY, says="It is so.")
    known = replace(RULE, id="effort/chat/known")
    late = Suite("wire/chat", "Chunks", ("openai.chat",), (RULE, other), "x.yaml")
    early = Suite("effort/chat", "Effort", ("openai.chat",), (known,), "y.yaml")
    text = rule_index([late, early])
    assert "3 rules in 2 suites" in text
    assert text.index("## effort/chat") < text.index("## wire/chat\n\nChunks.\n")
    assert "| [done](wire/chat/done.md) | MUST | The stream ends with a [DONE] line. |" in text
    assert "| [two/words](wire/chat/two/words.md) | MAY | It is so. |" in text


@pytest.mark.slow
def test_pages_are_written_from_the_rules_of_today(tmp_path: Path) -> None:
    count = write_pages(tmp_path)
    written, kept = texts(tmp_path), texts(PAGES)
    assert len(written) == count
    text = "stale: make docs"
    assert sorted(written) == sorted(kept), text
    assert [name for name in written if written[name] != kept[name]] == [], text


def test_every_link_of_the_index_leads_to_a_page() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (PAGES / "README.md").read_text(encoding="utf-8"))
    assert sorted(links) == sorted(name for name in texts(PAGES) if name != "README.md")
