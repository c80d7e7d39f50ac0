"""What a page shows is compared with what is printed."""

from __future__ import annotations

import pytest

from tests.docs.transcripts import Command, commands_of, shows

SESSION = """\
$ one \\
    --more
a
$ two &
$ cat > f <<X
> text
> X
b
c"""


def test_a_session_is_commands_with_what_they_print() -> None:
    assert list(commands_of(SESSION)) == [
        Command("one \\\n    --more", ("a",)),
        Command("two &", ()),
        Command("cat > f <<X\ntext\nX", ("b", "c")),
    ]
    assert [each.is_background for each in commands_of(SESSION)] == [False, True, False]


@pytest.mark.parametrize(
    ("page", "printed", "is_shown"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nb\nc", False),
        ("a ... c", "a [b] c", True),
        ("a ... c", "a b\nc", False),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nd", True),
        ("a\n...\nd", "a\nb\nc", False),
        ("...\nd", "a\nb\nd", True),
        ("a\n...", "a\nb\nc", True),
        ("a\n...", "a", True),
        ("...", "a\nb", True),
        ("[1] (x)*", "[1] (x)*", True),
    ],
)
def test_dots_stand_for_what_the_page_leaves_out(page: str, printed: str, is_shown: bool) -> None:
    assert shows(tuple(page.split("\n")), printed) is is_shown
