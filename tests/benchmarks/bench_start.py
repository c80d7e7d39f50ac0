"""Start-up: `python tests/benchmarks/bench_start.py [rounds]`, from the repository.

The command line, and one short stream checked by it, against a typer program that does nothing; the
import of the package against that of two libraries which a checker of streams can hardly do
without. Processor time of whole processes.

First the checkout, then the package as a wheel lays it, which need not read YAML.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.installed import install
from tests.benchmarks.real_streams import drawn
from tests.benchmarks.rounds import Candidate, children, process, report, rounds, taken

ROOT: Final = str(Path(__file__).resolve().parents[2])
EMPTY: Final = """import typer

app = typer.Typer()


@app.command()
def nothing() -> None:
    pass


app()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        program, stream = Path(name) / "nothing.py", Path(name) / "one.sse"
        program.write_text(EMPTY, encoding="utf-8")
        stream.write_bytes(b"".join(drawn("openai.responses", "20-100")[0].chunks))
        measure("checkout", ROOT, program, stream)
        measure("wheel", install(Path(name) / "site"), program, stream)


def measure(title: str, folder: str, program: Path, stream: Path) -> None:
    """The package that lies in a folder."""

    def run(*arguments: str) -> Candidate:
        return process(sys.executable, *arguments, cwd=folder)

    candidates = {
        "--help": run("-m", "conformance", "--help"),
        "check": run("-m", "conformance", "check", str(stream)),
        "check --dialect --profile": run(
            *("-m", "conformance", "check", str(stream)),
            *("--dialect", "openai.responses", "--profile", "strict"),
        ),
        "empty typer": run(str(program)),
        "empty typer --help": run(str(program), "--help"),
        "import conformance": run("-c", "import conformance"),
        "import check": run("-c", "import conformance.recordings.check"),
        "import msgspec, yaml": run("-c", "import msgspec, yaml"),
        "python": run("-c", ""),
    }
    times = taken(candidates, 3 * rounds(), children)  # processes are short, and noisy
    report(title, times, "--help", "empty typer --help", "<= 1.5")
    report(title, times, "check", "empty typer", "<= 3.5")
    report(title, times, "check --dialect --profile", "empty typer", "none set")
    report(title, times, "import conformance", "import msgspec, yaml", "<= 1.5")
    report(title, times, "import check", "import msgspec, yaml", "none set")
    report(title, times, "import conformance", "python", "none set")


if __name__ == "__main__":
    main()
