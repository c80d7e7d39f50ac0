"""What the cases of a test cost, and how many of them every run can afford.

`costs.json` holds, for each test function whose cases took at least LISTED seconds of processor
time together, these seconds and the number of cases. `make costs` writes it anew. Of a function so
listed `make test` runs as many cases as fit in SHARE seconds, the same ones each time, but
one at least if a case takes no more than DEAR seconds; `make test-slow` runs the others.
What a process does once is in the cost of whichever case came first.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Final

import pytest

FILE: Final = Path(__file__).parent / "costs.json"
LISTED: Final = 0.3
SHARE: Final = 0.25
DEAR: Final = 1.0
_OPTION: Final = "--write-costs"


def known_costs() -> Mapping[str, tuple[float, int]]:
    """Function (`tests/x/test_y.py::test_z`) -> seconds of all its cases, number of cases."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: (seconds, cases) for name, (seconds, cases) in listed.items()}


def affordable(seconds: float, cases: int) -> int:
    """How many cases of a function every run affords; none of one whose every case is dear."""
    each = seconds / cases
    return max(int(SHARE / each), int(each <= DEAR))


def quick_seconds(costs: Mapping[str, tuple[float, int]]) -> float:
    """What `make test` takes for functions with these costs, beside those marked `every_run`."""
    return sum(
        seconds if seconds < LISTED else min(cases, affordable(seconds, cases)) * seconds / cases
        for seconds, cases in costs.values()
    )


def add_option(parser: pytest.Parser) -> None:
    """The option with which `make costs` runs."""
    usage = "folder for what each case takes; `python -m tests.costs FOLDER` sums it up"
    parser.addoption(_OPTION, metavar="FOLDER", help=usage)


def _spent() -> float:
    """Seconds of processor time of this process and of those that it waited for."""
    import resource  # noqa: PLC0415  # there is none on Windows, where all else runs

    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


class CostRecorder:
    """Writes what each case takes, one line a case, into a file of its process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"{os.getpid()}.tsv"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = _spent()
        result = yield
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{_spent() - before:.3f}\t{item.nodeid.partition('[')[0]}\n")
        return result


def record_if_asked(config: pytest.Config) -> None:
    """Watches the cases of this process, where the option names a folder."""
    if folder := config.getoption(_OPTION, None):
        config.pluginmanager.register(CostRecorder(Path(folder)))


def _measured(folder: Path) -> dict[str, tuple[float, int]]:
    found: dict[str, list[float]] = defaultdict(list)
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            seconds, _, name = line.partition("\t")
            found[name].append(float(seconds))
    return {name: (round(sum(each), 2), len(each)) for name, each in found.items()}


def is_there(name: str) -> bool:
    """Whether the function of a listed name is still in its file."""
    path = FILE.parent.parent / name.partition("::")[0]
    return path.exists() and f"def {name.rpartition('::')[2]}(" in path.read_text(encoding="utf-8")


def updated(
    known: Mapping[str, tuple[float, int]], measured: Mapping[str, tuple[float, int]]
) -> dict[str, tuple[float, int]]:
    """What is dear now; a function that was not measured keeps its line as long as it is there."""
    kept = {name: cost for name, cost in known.items() if name not in measured and is_there(name)}
    return kept | {name: cost for name, cost in measured.items() if cost[0] >= LISTED}


def main(folder: str) -> None:
    """Writes the file anew from what the cases took."""
    measured = _measured(Path(folder))
    costs = updated(known_costs(), measured)
    quick, every = quick_seconds(measured), sum(seconds for seconds, _ in measured.values())
    sys.stdout.write(f"{every:.0f} s of processor time, {quick:.0f} s of it in `make test`\n")
    lines = (f"  {json.dumps(name)}: {json.dumps(costs[name])}" for name in sorted(costs))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
