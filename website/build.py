"""Writes what the site is made of: Markdown, assets, and the file that Zensical reads.

    python -m website.build FOLDER            # needs npm and pip, for the judge in the browser
    python -m website.build FOLDER --no-judge # leaves it out

`make site` does this and makes the pages of it. The project's address is that of pyproject.toml;
without one the site has no links to its sources.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from conformance.board import board_page, read_rows
from conformance.recordings.examples import example_streams
from website.bundle import write_judge
from website.lanes import lane_tables
from website.pages import ROOT, written_pages

OWN: Final = Path(__file__).parent
_FORM: Final = re.compile(r"<form.*?</form>\n", re.DOTALL)
BOARD: Final = "saved-runs.html"
_EXCERPTS: Final = ("## Passes", "## Fails")


def main(arguments: list[str]) -> int:
    """Writes into one folder, which is made anew; 2 for anything else."""
    if not arguments or arguments[1:] not in ([], ["--no-judge"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    folder = Path(arguments[0])
    write_site(folder)
    if arguments[1:]:
        _leave_out_judge(folder / "pages" / "judge.md")
    else:
        write_judge(folder / "pages" / "assets")
    return 0


def write_site(folder: Path, rules: frozenset[str] | None = None) -> None:
    """Everything that the site is made of; lanes for these rules, or for all."""
    shutil.rmtree(folder, ignore_errors=True)
    address = project_address()
    written = written_pages(address)
    for place, text in written.items():
        page = folder / "pages" / place
        page.parent.mkdir(parents=True, exist_ok=True)
        is_rule = place.startswith("rules/") and place != "rules/README.md"
        rule = place.removeprefix("rules/").removesuffix(".md")
        drawn = is_rule and (rules is None or rule in rules)
        page.write_text(with_lanes(text, rule) if drawn else text, encoding="utf-8")
    for page in sorted((OWN / "pages").glob("*.md")):
        shutil.copy(page, folder / "pages")
    shutil.copy(ROOT / "docs" / "report.svg", folder / "pages")
    write_board(folder / "pages", _rule_addresses(written))
    shutil.copytree(OWN / "assets", folder / "pages" / "assets")
    language = (ROOT / "docs" / "rule-language.md").read_text(encoding="utf-8")
    (folder / "pages" / "assets" / "example.yaml").write_text(first_suite(language), "utf-8")
    (folder / "zensical.toml").write_text(site_settings(written, address), "utf-8")


def _rule_addresses(pages: Iterable[str]) -> dict[str, str]:
    """Where the page of each rule is, seen from the front page."""
    found = (each.removesuffix(".md") for each in pages if each.startswith("rules/"))
    return {each.removeprefix("rules/"): f"{each}/" for each in found}


def write_board(pages: Path, rules: Mapping[str, str]) -> None:
    """The page of saved runs, which are judged again for it, and their recordings beside it."""
    rows = read_rows(OWN / "board")
    for row in rows:
        for each in row.summary.recordings if row.folder else ():
            source, kept = (top / row.folder / each.file for top in (OWN / "board", pages))
            kept.parent.mkdir(parents=True, exist_ok=True)
            if source.is_file():
                shutil.copyfile(source, kept)
    (pages / BOARD).write_text(board_page(rows, rules), encoding="utf-8")


def _leave_out_judge(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(_FORM.sub("This copy of the site was built without it.\n\n", text), "utf-8")


def project_address() -> str:
    """The one that pyproject.toml holds; empty where none is known yet."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["address"]).rstrip("/")


def first_suite(page: str) -> str:
    """The suite that the page of the rule language begins with."""
    return page.split("```yaml suite ", 1)[1].split("\n", 1)[1].split("```", 1)[0]


def with_lanes(page: str, rule: str) -> str:
    """The page of a rule with its example drawn, before the excerpts that it is drawn from."""
    streams = example_streams(rule)
    tables = lane_tables(streams) if streams else ""
    place = min((page.find(f"\n{head}\n") for head in _EXCERPTS if head in page), default=-1)
    if not tables or place < 0:
        return page
    return f"{page[:place]}\n## In lanes\n\n{tables}{page[place:]}"


def site_settings(pages: Iterable[str], address: str) -> str:
    """The file that Zensical reads: every page has its place in the navigation, but for rules."""
    own = (OWN / "zensical.toml").read_text(encoding="utf-8")
    named = set(re.findall(r'"([\w/-]+\.md)"', own))
    others = [each for each in sorted(pages) if each not in named and not each.startswith("rules/")]
    text = own.replace('"OTHERS",', "".join(f'"{each}", ' for each in others))
    return (
        text.replace("[project]\n", f'[project]\nrepo_url = "{address}"\n', 1) if address else text
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
