from __future__ import annotations

import html.parser
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report import escaping
from tests.report.hostile import BREAKOUTS

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(BREAKOUTS)

MARKDOWN: list[tuple[str, str]] = [
    ("plain words, a-b (c)", "plain words, a-b (c)"),
    ("*b* _i_ `c`", r"\*b\* \_i\_ \`c\`"),
    ("[x](http://e.org)", r"\[x\](http&#58;//e.org)"),
    ("www.e.org", "www&#46;e.org"),
    ("<b>&amp;", "&#60;b&#62;&#38;amp;"),
    ("@you #1 $x$", "&#64;you &#35;1 &#36;x&#36;"),
    ("a|b", r"a\|b"),
    ("a\nb", r"a\\nb"),
    ("\u202e", r"\\u202e"),
]
CODE: list[tuple[str, str]] = [
    ("x", "`x`"),
    ("a`b", "``a`b``"),
    ("`", "`` ` ``"),
    ("``a", "``` ``a ```"),
    ("a|b", "`a¦b`"),
    ("", ""),
]
WORKFLOW: list[tuple[str, str]] = [
    ("50%", "50%25"),
    ("a\nb", r"a\nb"),
    ("::error::x", "::error::x"),
]


@pytest.mark.parametrize(("text", "shown"), MARKDOWN)
def test_markdown_shows_text_as_it_is(text: str, shown: str) -> None:
    assert escaping.escape_markdown(text) == shown


@pytest.mark.parametrize(("text", "shown"), CODE)
def test_a_code_span_is_fenced_by_more_backticks_than_it_holds(text: str, shown: str) -> None:
    assert escaping.code_span(text) == shown


@pytest.mark.parametrize(("text", "shown"), WORKFLOW)
def test_a_workflow_message_is_one_line(text: str, shown: str) -> None:
    assert escaping.workflow_message(text) == shown


def test_a_workflow_property_ends_at_no_comma_or_colon() -> None:
    assert escaping.workflow_property("a,b:c%") == "a%2Cb%3Ac%25"


@given(text=ANY_TEXT)
def test_no_text_leaves_an_attribute_or_element(text: str) -> None:
    class Reader(html.parser.HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: list[str] = []
            self.text = ""
            self.title: str | None = None

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.append(tag)
            self.title = dict(attrs)["title"]
            assert len(attrs) == 1

        def handle_data(self, data: str) -> None:
            self.text += data

    shown = escaping.escape_html(text)
    reader = Reader()
    reader.feed(f'<p title="{shown}">{shown}</p>')
    reader.close()
    assert reader.tags == ["p"]
    assert reader.title == reader.text
    assert reader.text.isprintable()


@given(text=ANY_TEXT)
def test_no_text_ends_a_code_span_or_a_line(text: str) -> None:
    shown = escaping.code_span(text)
    assert shown.isprintable()
    if shown:
        fence = re.match("`+", shown)
        assert fence is not None
        assert fence[0] not in re.findall("`+", shown[fence.end() : -fence.end()])


@given(lines=st.lists(ANY_TEXT, max_size=4))
def test_no_text_ends_a_block(lines: list[str]) -> None:
    shown = escaping.code_block(lines)
    assert len(shown) == len(lines) + 2
    fence = shown[-1]
    assert not [line for line in shown[1:-1] if line.lstrip().startswith(fence)]
