"""Stop strings in visible text: found across any cutting, never half shown.

Each string is searched with the automaton of Knuth, Morris and Pratt: linear in the text, whatever
the strings. The string that is complete first counts; of two complete at once, the longer.
"""

from __future__ import annotations

from collections.abc import Sequence


class StopSearch:
    """Text goes in, text that can no longer belong to a stop string comes out."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._automata = [_Automaton(stop) for stop in sorted(stops, key=len, reverse=True)]
        self._held = ""
        self.found: str | None = None

    def push(self, text: str) -> str:
        """Return the text that may be shown now; after `found` is set, there is none."""
        if not self._automata:
            return text
        if self.found is not None:
            return ""
        whole = self._held + text
        for at in range(len(self._held), len(whole)):
            for automaton in self._automata:
                if automaton.push(whole[at]):
                    return self._end(automaton.word, whole[: at + 1 - len(automaton.word)])
        split = len(whole) - max(automaton.matched for automaton in self._automata)
        self._held = whole[split:]
        return whole[:split]

    def flush(self) -> str:
        """Return the text that was held back; the search starts anew."""
        held, self._held = self._held, ""
        for automaton in self._automata:
            automaton.matched = 0
        return held

    def _end(self, word: str, shown: str) -> str:
        self.found, self._held = word, ""
        return shown


class _Automaton:
    """How much of one word the text ends with."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.matched = 0
        self._shorter = _prefix_borders(word)

    def push(self, char: str) -> bool:
        """Whether the word is complete with this character."""
        matched = self.matched
        while matched and self.word[matched] != char:
            matched = self._shorter[matched - 1]
        self.matched = matched + (self.word[matched] == char)
        return self.matched == len(self.word)


def _prefix_borders(word: str) -> list[int]:
    """For each prefix, the longest of its proper prefixes that it also ends with."""
    borders, matched = [0], 0
    for char in word[1:]:
        while matched and word[matched] != char:
            matched = borders[matched - 1]
        matched += word[matched] == char
        borders.append(matched)
    return borders
