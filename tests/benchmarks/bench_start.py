"""Start-up: `python tests/benchmarks/bench_start.py [rounds]`, from the repository.

The command line, and one short stream checked by it, against a typer program that does nothing; the
import of the package against that of two libraries which a checker of streams can hardly do
without. Processor time of whole processes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.real_streams import drawn
from tests.benchmarks.rounds import children, process, report, rounds, taken

ROOT: Final = str(Path(__file__).resolve().parents[2])
EMPTY: Final = """import typer

app = typer.Typer()


@app.command()
def nothing() -> None:
    pass


app()
"""


def main() -> None:
    count = 3 * rounds()  # processes are short, and noisy
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "nothing.py"
        program.write_text(EMPTY, encoding="utf-8")
        stream = Path(name) / "one.sse"
        drawn_stream = drawn("openai.responses", "20-100")[0]
        stream.write_bytes(b"".join(drawn_stream.chunks))
        python = sys.executable
        times = taken(
            {
                "conformance --help": process(python, "-m", "conformance", "--help", cwd=ROOT),
                "conformance check": process(
                    *(python, "-m", "conformance", "check", str(stream)), cwd=ROOT
                ),
                "empty typer": process(python, str(program), "--help"),
                "import conformance": process(python, "-c", "import conformance", cwd=ROOT),
                "import check": process(
                    python, "-c", "import conformance.recordings.check", cwd=ROOT
                ),
                "import msgspec, yaml": process(python, "-c", "import msgspec, yaml"),
                "python": process(python, "-c", ""),
            },
            count,
            children,
        )
    report("start", times, "conformance --help", "empty typer", "<= 1.5")
    report("one stream", times, "conformance check", "empty typer", "<= 3.5")
    report("start", times, "import conformance", "import msgspec, yaml", "<= 1.5")
    report("start", times, "import check", "import msgspec, yaml", "none set")
    report("start", times, "import conformance", "python", "none set")


if __name__ == "__main__":
    main()
