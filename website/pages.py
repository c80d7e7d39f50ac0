"""Pages of the site, from README, docs/ and a few files beside them.

Rule 1: nothing is said twice. Start pages are sections of README, rule pages are those of
docs/rules with lanes added.
Rule 2: a link that leaves the site leads to the project's address; while there is none, its words
are left.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

ROOT: Final = Path(__file__).parent.parent
_LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]*)(#[^)\s]*)?\)")
_FENCED: Final = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_SECTION: Final = re.compile(r"^(?=## )", re.MULTILINE)
# The first item of a list, behind a line of words: the generator wants a blank line between.
_LIST: Final = re.compile(r"^(?!\s*(?:[-*|>#]|\d+\.)\s)(\S.*)\n(?=(?:[-*]|1\.) )", re.MULTILINE)
# Words behind the language of a fence, but for a title: other tests read them.
_FENCE_WORDS: Final = re.compile(r"^( *```\w+) (?!title=)[\w ]+$", re.MULTILINE)
_TRY: Final = "A suite can be tried [in the browser](judge.md)."
_BOARD: Final = "[The board of today](saved-runs.html) is made with this site."
BESIDE: Final[Mapping[str, str]] = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "report-a-hole.md",
}


class Role(Struct, frozen=True):
    """A start page: the section of README that it shows, and where to go on from there."""

    page: str
    section: str
    further: Sequence[tuple[str, str]]


ROLES: Final = (
    Role(
        "start/server.md",
        "You write a server",
        (
            ("live.md", "Scenarios, and what a run asks"),
            ("dialects.md", "What is judged in each API"),
            ("profiles.md", "Profiles: whom a server should behave like"),
            ("real-targets.md", "What was found in servers that anyone can install"),
            ("rules/README.md", "All rules"),
        ),
    ),
    Role(
        "start/client.md",
        "You write a client",
        (
            ("clients.md", "The adapter protocol, with examples in several languages"),
            ("client-matrix.md", "What was found in clients that anyone can install"),
            ("replay.md", "Replay: cut, delayed and cut into other chunks"),
        ),
    ),
    Role(
        "start/application.md",
        "You test an application",
        (
            ("pytest.md", "The plugin for pytest"),
            ("applications.md", "An application between a model and its users"),
            ("python.md", "In Python"),
        ),
    ),
    Role(
        "start/recordings.md",
        "You keep recordings",
        (
            ("recording.md", "Recording without secrets"),
            ("files.md", "All files that are read"),
            ("baselines.md", "Baselines: what is known, and what is new"),
            ("corpora.md", "Many streams"),
        ),
    ),
    Role(
        "start/gateway.md",
        "You run a gateway",
        (
            ("live.md#gateways", "How a gateway is compared with its upstream"),
            ("real-targets.md", "What was found in gateways that anyone can install"),
            ("ci.md", "In continuous integration"),
        ),
    ),
)
# Rows of README's table lead to the page of that role.
_ROWS: Final[Mapping[str, str]] = {
    "the author of a server": "start/server.md",
    "the author of a client or SDK": "start/client.md",
    "a tester of an application with pytest": "start/application.md",
    "a keeper of recordings": "start/recordings.md",
    "an operator of a gateway or proxy": "start/gateway.md",
    "the author of an application on a model": "applications.md",
    "the owner of a million streams": "corpora.md",
}


def written_pages(address: str) -> dict[str, str]:
    """Every Markdown page that people wrote or that generators keep, by its place in the site."""
    pages = {
        path.relative_to(ROOT / "docs").as_posix(): _page_text(path, address)
        for path in sorted((ROOT / "docs").rglob("*.md"))
    }
    for name, place in BESIDE.items():
        pages[place] = _page_text(ROOT / name, address)
    language = pages["rule-language.md"]
    pages["rule-language.md"] = language.replace("\n## ", f"\n{_TRY}\n\n## ", 1)
    pages["board.md"] = pages["board.md"].replace("\n## ", f"\n{_BOARD}\n\n## ", 1)
    return pages | _start_pages((ROOT / "README.md").read_text(encoding="utf-8"), address)


def _page_text(path: Path, address: str) -> str:
    own = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    return site_text(text, own, _place(own) or own, address)


def _start_pages(readme: str, address: str) -> dict[str, str]:
    """README in parts: what it says to a role, and all the rest."""
    sections = {part.partition("\n")[0][3:]: part for part in _SECTION.split(readme)[1:]}
    front = _SECTION.split(readme)[0]
    for words, place in _ROWS.items():
        assert f"| {words} |" in front, f"README has no row {words!r} any more"
        front = front.replace(f"| {words} |", f"| [{words}](docs/{place}) |")
    pages = {}
    for role in ROLES:
        text = sections.pop(role.section).replace("## ", "# ", 1)
        links = "".join(f"- [{words}](docs/{place})\n" for place, words in role.further)
        pages[role.page] = site_text(
            f"{text.rstrip()}\n\n## Further\n\n{links}", "README.md", role.page, address
        )
    rest = "".join([front, *sections.values()])
    return pages | {"index.md": site_text(rest, "README.md", "index.md", address)}


def site_text(text: str, source: str, place: str, address: str) -> str:
    """A page of the repository as the site has it: links that hold, fences that it knows.

    `source` is the file whose links these are, `place` where the page stands in the site.
    """

    def link(found: re.Match[str]) -> str:
        picture, words, target, anchor = found.groups()
        path = os.path.normpath(PurePosixPath(source).parent / target)
        inside = _place(path)
        if inside is not None:
            near = os.path.relpath(inside, PurePosixPath(place).parent)
            return f"{picture}[{words}]({near}{anchor or ''})"
        if not address:
            return "" if picture else words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({address}/{kind}/main/{path}{anchor or ''})"

    parts = _FENCED.split(text)
    return "".join(
        _FENCE_WORDS.sub(r"\1", part) if at % 2 else _LIST.sub(r"\1\n\n", _LINK.sub(link, part))
        for at, part in enumerate(parts)
    )


def _place(path: str) -> str | None:
    """Where a file of the repository stands in the site; None where it does not."""
    if path == "README.md":
        return "index.md"
    if path in BESIDE:
        return BESIDE[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None
