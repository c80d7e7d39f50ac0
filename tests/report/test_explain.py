from __future__ import annotations

from msgspec.structs import replace

from conformance.core.errors import Place
from conformance.recordings.examples import RuleExample
from conformance.report.explain import explain_rule
from conformance.report.silences import Silence
from conformance.rules.forms.fold import Fold
from conformance.rules.forms.never import Never
from conformance.rules.model import Applies, Rule
from conformance.rules.verdicts import Level
from tests.report.made import finding
from tests.report.made import rule as make_rule

RULE = make_rule()

GOLDEN = """\
wire/chat/done  MUST (a violation exits 1)
  The stream ends with a [DONE] line.
  openai.chat, since 0.1.0, specs/wire/chat.yaml:12

why
  https://example.org
  "It ends."
  breaks: a client

passes
  data: [DONE]

fails
  data: {}
  finding: expected text.delta or text.done after text.delta (event 7), got part.done

fix
  Write the line before closing.
  Send it last.

profiles
  applies if the profile has done: required or optional
    Whether a last line is sent.
  x (openai.chat) sets done: forbidden
    it never sends one
    seen: 8 of 8 recordings
"""


def test_the_whole_page() -> None:
    silence = Silence(
        "x", "openai.chat", "done: forbidden", "it never sends one", "8 of 8 recordings"
    )
    knobs = {"done": "Whether a last line is sent.", "other": "Not of this rule."}
    example = RuleExample(("data: [DONE]",), ("data: {}",), finding())
    assert explain_rule(RULE, [silence], example, knobs=knobs) == GOLDEN


def test_profiles_with_one_reason_share_a_line() -> None:
    alike = [
        Silence(name, "openai.chat", "done: forbidden", "It is left out.", "1 of 1")
        for name in "ab"
    ]
    text = explain_rule(RULE, alike)
    assert text.endswith("  a, b (openai.chat) set done: forbidden\n    It is left out.\n")


def test_empty_sections_are_left_out() -> None:
    bare = Rule(
        id="a/b/c",
        level=Level.MAY,
        says="It is so.",
        source=(),
        since="0.1.0",
        form=Never(events=("done",)),
        aliases={},
        place=Place("x.yaml", 1),
        applies=Applies(view="client"),
    )
    assert explain_rule(bare) == (
        "a/b/c  MAY (a note, never a failure)\n  It is so.\n"
        "  every dialect, client view, since 0.1.0, x.yaml:1\n\n"
        "profiles\n"
        "  no knob turns it off; a profile of your own may lower its level, with a reason\n"
    )


def test_excerpts_from_the_wire_are_made_safe() -> None:
    text = explain_rule(RULE, (), RuleExample(("\x1b[2J" + "x" * 9999,), ("\u202e",)))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert max(map(len, text.splitlines())) < 250


def test_a_knob_in_the_form_is_reported() -> None:
    masked = replace(RULE, form=Fold({"done": "item"}, "list", minus="$mask"), applies=Applies())
    page = explain_rule(masked, knobs={"mask": "Fields that may differ."})
    assert "\n  judges by the profile's knob mask\n    Fields that may differ.\n" in page
    assert "by no knob" not in page


def test_colour_marks_titles() -> None:
    assert explain_rule(RULE, colour=True).startswith("\x1b[1mwire/chat/done\x1b[0m  MUST (")
