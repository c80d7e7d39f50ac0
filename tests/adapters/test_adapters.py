"""Adapters of real clients: each runs where its packages are, and is skipped visibly elsewhere.

Packages of another interpreter: $CONFORMANCE_ADAPTERS_PYTHON names it. Packages of node: the folder
that $CLIENTS_FOLDER names holds `node_modules`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import load_baseline
from conformance.cli import main
from conformance.core import shipped
from conformance.targets.client import ClientOptions, ClientOutcome, run_client
from tests.adapters import matrix

ROOT = Path(__file__).parent.parent.parent
PYTHON = os.environ.get("CONFORMANCE_ADAPTERS_PYTHON", sys.executable)
BASELINES = shipped.specs() / "baselines" / "clients"
CHAT = "openai.chat/deepseek/stream-and-body"
TOOLS = "openai.chat/deepseek/parallel-tools"
RESPONSES = "openai.responses/demo/summary"
LATER_CALLS = "openai.responses/permits/permits-text-between-tools"
MESSAGES = "anthropic.messages/client/signed-thinking"
AGREES = "thinking/client/agrees-with-wire"
ENDING = "harness/ending"
# What a reader fails that splits at LF and takes each line for an event.
SEVERAL_LINES = {
    "A-cr-bytewise",
    "A-empty-line-inside",
    "A-empty-lines-first",
    "A-mixed-line-ends",
    "F2-cr",
    "F7-several-data-lines",
}
NO_UTF8 = {"A-invalid-utf8", "A-overlong-utf8", "A-surrogate-utf8"}
# Adapter -> the package that it needs.
PACKAGES = {
    "openai_raw": "openai",
    "openai_helper": "openai",
    "anthropic_sdk": "anthropic",
    "pydantic_ai_client": "pydantic_ai",
    "pasted_reader": "httpx",
    "openhands_llm": "openhands.sdk",
    "litellm_sdk": "litellm",
    "langchain_chat": "langchain_openai",
    "openai_agents": "agents",
}


@cache
def has_package(name: str) -> bool:
    """Whether the interpreter has it; importing it would take seconds."""
    look = f"import importlib.util as u; raise SystemExit(u.find_spec({name!r}) is None)"
    return not subprocess.run([PYTHON, "-c", look], capture_output=True, check=False).returncode


def python(adapter: str) -> list[str]:
    """The command of an adapter; skips the test where its package is missing."""
    package = PACKAGES[adapter]
    if not has_package(package):
        pytest.skip(f"{PYTHON} has no package {package}")
    return [PYTHON, "-m", f"tests.adapters.{adapter}"]


def node(adapter: str, package: str, *arguments: str) -> list[str]:
    """The command of an adapter of npm; skips the test where its package is missing."""
    folder = os.environ.get("CLIENTS_FOLDER")
    if not folder or not (Path(folder) / "node_modules" / package).is_dir():
        pytest.skip(f"CLIENTS_FOLDER names no folder with node_modules/{package}")
    return [*node_command(), str(ROOT / "tests" / "adapters" / f"{adapter}.mjs"), *arguments]


def ai_sdk(kind: str) -> list[str]:
    return node("ai_sdk", "ai", kind)


def coding_agent(name: str, package: str) -> list[str]:
    node("", package)
    return [sys.executable, "-m", "tests.adapters.coding_agents", name]


def node_command() -> list[str]:
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no node")
    return [found]


def run(
    command: list[str], *names: str, extent: str = "quick", deadline: float = 20
) -> ClientOutcome:
    paths = [shipped.cassettes() / f"{name}.cassette.jsonl" for name in names]
    options = ClientOptions(extent="full" if extent == "full" else "quick", deadline=deadline)
    return run_client(command, paths, options)


def found(outcome: ClientOutcome) -> dict[str, str]:
    """Rule -> message."""
    return {finding.rule: finding.message for finding in outcome.report.findings}


@pytest.mark.one_in(11)
@pytest.mark.parametrize(
    ("adapter", "name"),
    [
        ("openai_raw", CHAT),
        ("openai_raw", TOOLS),
        ("openai_raw", RESPONSES),
        ("openai_helper", RESPONSES),
        ("anthropic_sdk", MESSAGES),
        ("pydantic_ai_client", CHAT),
        ("pydantic_ai_client", RESPONSES),
        ("pasted_reader", CHAT),
        ("openhands_llm", CHAT),
        ("litellm_sdk", CHAT),
        ("litellm_sdk", MESSAGES),
        ("langchain_chat", MESSAGES),
        ("langchain_chat", LATER_CALLS),
        ("openai_agents", CHAT),
        ("openai_agents", TOOLS),
        ("openai_agents", RESPONSES),
    ],
)
def test_what_a_client_can_do_is_not_blamed(adapter: str, name: str) -> None:
    assert found(run(python(adapter), name)) == {}


@pytest.mark.parametrize(
    ("name", "package", "recording"),
    [
        ("claude", "@anthropic-ai/claude-code", MESSAGES),
        ("codex", "@openai/codex", "openai.responses/openai/third-turn"),
    ],
)
def test_coding_agents_tell_what_was_sent(name: str, package: str, recording: str) -> None:
    assert found(run(coding_agent(name, package), recording, deadline=60)) == {}


@pytest.mark.slow
def test_the_stream_helper_tells_no_thinking_of_chat() -> None:
    message = found(run(python("openai_helper"), CHAT))[AGREES]
    assert "all thinking is lost" in message


def test_openai_agents_tells_a_cut_in_thinking_as_an_error() -> None:
    message = found(run(python("openai_agents"), "openai.chat/deepseek/length-in-thinking"))[ENDING]
    assert "terminated with finish_reason='length'" in message


@pytest.mark.slow
def test_the_pasted_reader_tears_a_delta_that_contains_a_line_separator() -> None:
    message = found(run(python("pasted_reader"), CHAT, extent="full"))[ENDING]
    assert "A-u2028" in message
    assert "recorded" not in message


def test_the_ai_sdk_keeps_reasoning_content_with_one_provider_alone() -> None:
    assert found(run(ai_sdk("compatible"), CHAT)) == {}
    assert "all thinking is lost" in found(run(ai_sdk("openai-chat"), CHAT))[AGREES]


def test_consumers_of_applications_show_what_was_sent() -> None:
    signed = "vercel.ui/ai-sdk/thinking-signed"
    assert found(run(node("ui_message_sdk", "ai"), signed, "vercel.ui/ai-sdk/hops-tool-loop")) == {}


def test_the_client_of_ag_ui_drops_what_seals_thinking_without_a_text() -> None:
    agent = node("ag_ui_client", "@ag-ui/client")
    assert found(run(agent, "agui/agent/thinking-sealed", "agui/agent/tool-and-snapshot")) == {}
    assert "thinking.opaque" in found(run(agent, "agui/agent/thinking-redacted"))[AGREES]


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (("ai_sdk", "ai", "compatible"), (CHAT, TOOLS)),
        (("ai_sdk", "ai", "openai-responses"), (RESPONSES,)),
        (("ai_sdk", "ai", "anthropic"), (MESSAGES,)),
        (("anthropic_node", "@anthropic-ai/sdk"), (MESSAGES,)),
        (("openai_node", "openai", "raw"), (CHAT, TOOLS, RESPONSES)),
    ],
    ids="-".join,
)
def test_clients_on_undici_tell_every_cut(command: tuple[str, ...], names: tuple[str, ...]) -> None:
    """A cut that its HTTP stack reports is told; an edit of the framing may still be misread."""
    for message in found(run(node(*command), *names, extent="full")).values():
        assert "cut event" not in message
        assert "reset byte" not in message


def test_openhands_hands_a_summary_to_on_token_as_content() -> None:
    command = [*python("openhands_llm"), "bodies"]
    message = found(run(command, "openai.responses/openai/body"))[AGREES]
    assert "the thinking is reported as text" in message


# -- examples and generated pages -----------------------------------------------------------------


def example(language: str) -> str:
    text = (ROOT / "docs" / "clients.md").read_text("utf-8")
    code = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert code is not None
    return code[1]


def adapter(language: str, folder: Path) -> list[str]:
    """The command of an example; skips the test where what runs it is missing."""
    suffix = {"python": "py", "javascript": "mjs", "elixir": "exs", "rust": "rs"}[language]
    file = folder / f"adapter.{suffix}"
    file.write_text(example(language), "utf-8")
    if language == "python":
        return [sys.executable, str(file)]
    if language == "javascript":
        return [*node_command(), str(file)]
    return _built(file) if language == "rust" else _script(file)


def _built(file: Path) -> list[str]:
    rustc = shutil.which("rustc")
    # What rustup puts there may stand for no compiler at all.
    if (
        rustc is None
        or subprocess.run([rustc, "--version"], capture_output=True, check=False).returncode
    ):
        pytest.skip("there is no rustc")
    shutil.copy(Path(__file__).with_name("json.rs"), file.parent)
    made = file.with_suffix("")
    command = [rustc, "--edition", "2021", "-D", "warnings", str(file), "-o", str(made)]
    subprocess.run(command, check=True)
    return [str(made)]


# What Elixir has since 1.18, out of Erlang's jiffy.
JSON_OF_JIFFY = """\
defmodule JSON do
  def decode!(text), do: :jiffy.decode(text, [:return_maps, {:null_term, nil}])
  def encode!(value), do: IO.iodata_to_binary(:jiffy.encode(value))
end
"""


def _script(file: Path) -> list[str]:
    elixir = shutil.which("elixir")
    if elixir is None:
        pytest.skip("there is no elixir")
    known = "IO.puts(Enum.map_join([JSON, :jiffy], &Code.ensure_loaded?/1))"
    found = subprocess.run([elixir, "-e", known], capture_output=True, text=True, check=True)
    if "true" not in found.stdout:
        pytest.skip("elixir has no module JSON, and there is no jiffy")
    if found.stdout.startswith("false"):
        file.write_text(JSON_OF_JIFFY + file.read_text("utf-8"), "utf-8")
    return [elixir, str(file)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("language", ["python", "javascript", "elixir", "rust"])
def test_the_examples_of_the_page_are_adapters(language: str, tmp_path: Path) -> None:
    outcome = run(adapter(language, tmp_path), CHAT, TOOLS, extent="full")
    # What they do not read is legal, and the page says so.
    edits = {name for message in found(outcome).values() for name in _replays(message)}
    if language == "elixir":
        assert edits - SEVERAL_LINES - NO_UTF8 == {"..."}
    else:
        assert edits == SEVERAL_LINES
    assert outcome.cases > 80


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_examples_of_the_page_get_through_a_whole_run(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every recording once: what edits do to them, the test above shows of two."""
    report = tmp_path / "report.json"
    client = shlex.join(adapter(language, tmp_path))
    command = ["run", "--client", client, "--jobs", "2", "--cases", "quick"]
    assert main([*command, "-o", f"json={report}"]) == 1, capsys.readouterr().err
    verdicts = json.loads(report.read_text("utf-8"))["summary"]
    assert verdicts.get("ERROR", 0) == 0


def _replays(message: str) -> list[str]:
    names = re.search(r"replays?: (.*)\)", message)
    assert names is not None
    return names[1].split(", ")


def test_the_page_of_the_matrix_is_what_the_recorded_run_gives() -> None:
    results = json.loads(matrix.RESULTS.read_text("utf-8"))
    assert matrix.PAGE.read_text("utf-8") == matrix.page(results)


def test_known_facts_show_in_the_matrix() -> None:
    results = json.loads(matrix.RESULTS.read_text("utf-8"))
    client = {name: matrix.Client(name, of) for name, of in results.items()}
    chat = matrix.cells(client["ai-sdk-openai-chat"], "openai.chat")
    assert chat["deepseek"].word == "loses reasoning"
    helper = matrix.cells(client["openai-python-helper"], "openai.responses")
    assert helper["ogx"].word == "fails"
    node = matrix.cells(client["anthropic-node"], "anthropic.messages")
    assert node["anthropic"].word == "hides the break"
    assert "A-u2028" in matrix.edited(client["pasted-iter-lines"])


def test_every_link_of_the_matrix_leads_to_one_finding() -> None:
    page = matrix.PAGE.read_text("utf-8")
    anchors = re.findall(r'<a id="([^"]+)"></a>', page)
    links = re.findall(r"\]\(#([^)]+)\)", page)
    assert len(anchors) == len(set(anchors)) > 100
    assert len(links) > 100
    assert [link for link in links if link not in anchors] == []


def test_a_cell_leads_to_what_it_says() -> None:
    page = matrix.PAGE.read_text("utf-8")
    rows = dict(re.findall(r'<a id="([^"]+)"></a>(.*)', page))
    cells = re.findall(r"\[(loses reasoning|fails|hides the break)\]\(#([^)]+)\)", page)
    expected = {"loses reasoning": matrix.AGREES}
    wrong = [
        (word, rows[to]) for word, to in cells if expected.get(word, matrix.ENDING) not in rows[to]
    ]
    assert cells
    assert wrong == []


@pytest.mark.parametrize("path", sorted(BASELINES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_baseline_of_a_client_names_one_target_with_reasons(path: Path) -> None:
    baseline = load_baseline(path)
    assert path.stem == baseline.target
    assert all(entry.reason for entry in baseline.entries)


@pytest.mark.slow
def test_the_baseline_of_the_pasted_reader_describes_it() -> None:
    outcome = run_client(python("pasted_reader"), [], ClientOptions(extent="quick", deadline=20))
    path = BASELINES / f"{outcome.about.target}.yaml"
    if not path.exists():
        pytest.skip(f"no baseline of {outcome.about.target}")
    report = apply_baseline(outcome.report, load_baseline(path))
    assert report.unexpected == ()
    assert report.baseline is not None
    assert report.baseline.stale == ()
