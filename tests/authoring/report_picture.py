"""Writes docs/report.svg: what `conformance check` says of a shipped stream with one fault.

python -m tests.authoring.report_picture
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from conformance.core.shipped import cassettes
from conformance.recordings.check import check_paths
from conformance.report.text import render

PICTURE: Final = Path(__file__).parents[2] / "docs" / "report.svg"
_RECORDING: Final = "mutants/demo/summary.cassette.jsonl"
_COLUMNS: Final = 104
_WIDTH: Final = 8.43  # of a character, in pixels
_HEIGHT: Final = 20  # of a line
_MARGIN: Final = 16
_SEQUENCE: Final = re.compile(r"\x1b\[([\d;]*)m")
_STYLES: Final = {"1;31": "f", "33": "w", "32": "p", "1": "b", "2": "q"}
_STYLE: Final = """\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d0d7de;white-space:pre}\
.f{fill:#ff7b72;font-weight:bold}.w{fill:#e3b341}.p{fill:#56d364}.b{font-weight:bold}.q{fill:#8b949e}\
"""


def picture() -> str:
    """The report of one broken stream on a terminal, as SVG."""
    report = check_paths([cassettes() / _RECORDING])
    name = Path(_RECORDING).name
    text = render(report, colour=True, width=_COLUMNS).replace(str(report.streams[0].file), name)
    # The last line counts rules, and so changes with every new one.
    shown = [f"$ conformance check {name}", *text.rstrip("\n").split("\n")[:-2]]
    width, height = 2 * _MARGIN + _COLUMNS * _WIDTH, 2 * _MARGIN + len(shown) * _HEIGHT
    rows = "\n".join(_row(number, line) for number, line in enumerate(shown, 1))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">\n'
        f"<title>A report of conformance check</title>\n<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n{rows}\n</svg>\n'
    )


def _row(number: int, line: str) -> str:
    baseline = _MARGIN + number * _HEIGHT - 5
    spans = "".join(_spans(line))
    return f'<text x="{_MARGIN}" y="{baseline}" xml:space="preserve">{spans}</text>'


def _spans(line: str) -> Iterator[str]:
    parts = _SEQUENCE.split(line)
    yield escape(parts[0])
    for code, text in zip(parts[1::2], parts[2::2], strict=True):
        style = _STYLES.get(code)
        if text:
            yield f'<tspan class="{style}">{escape(text)}</tspan>' if style else escape(text)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
