"""The report as one page: works from disk, without network, in light and dark, by keyboard.

Rule 1: every text of a stream passes `escaping.html`; ids and classes are counted, never taken
from a stream; the Content Security Policy allows this page's own style and script by hash and
nothing else.
Rule 2: without script the page uses plain HTML: details open, links lead to frames. The script adds
arrow keys and a way back.
Rule 3: the page is bounded for streams of any length (`PageBudget`, and a constant for every list),
and states what was left out.
"""

from conformance.report.html.page import pieces, render

__all__ = ["pieces", "render"]
