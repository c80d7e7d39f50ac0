"""What a played model may call of the tools that agents really offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dialects.wishes import OfferedFunction, offered_functions
from conformance.targets.harmless_calls import NOTES, harmless_call

FOLDER: Final = "/tmp/agent/workspace"
FILE: Final = f"{FOLDER}/{NOTES[0]}"
TEXT: Final = {"type": "string"}
Tools = Sequence[OfferedFunction]


def tool(name: str, *needed: str, optional: Sequence[str] = (), **stated: Any) -> OfferedFunction:
    """A tool whose parameters are texts where nothing else is stated."""
    properties = {each: stated.get(each, TEXT) for each in (*needed, *optional)}
    schema = {"type": "object", "properties": properties, "required": list(needed)}
    return OfferedFunction(name, schema)


# The tools of each agent as its package offered them in 2026-11, those that matter.
AGENTS: Final[Mapping[str, tuple[Tools, str, Mapping[str, Any]]]] = {
    "Claude Code 2.1": (
        [
            *(tool("Bash", "command"), tool("Edit", "file_path", "old_string", "new_string")),
            *(tool("CronList"), tool("NotebookEdit", "notebook_path", "new_source")),
            *(tool("Read", "file_path", optional=["limit"]), tool("WebFetch", "url", "prompt")),
            *(tool("TaskList"), tool("Write", "file_path", "content")),
        ],
        "Read",
        {"file_path": FILE},
    ),
    "Gemini CLI 0.61": (
        [
            *(tool("list_directory", "dir_path"), tool("grep_search", "pattern")),
            *(tool("read_file", "file_path"), tool("run_shell_command", "command")),
            *(tool("google_web_search", "query"), tool("list_background_processes")),
        ],
        "read_file",
        {"file_path": FILE},
    ),
    "Copilot CLI": (
        [
            *(tool("read_bash", "shellId", "delay"), tool("view", "path")),
            *(tool("list_bash"), tool("read_agent", "agent_id"), tool("glob", "pattern")),
        ],
        "view",
        {"path": FILE},
    ),
    "opencode 1.18": (
        [
            *(tool("glob", "pattern", optional=["path"]), tool("grep", "pattern")),
            *(tool("read", "filePath"), tool("skill", "name"), tool("todowrite", "todos")),
        ],
        "read",
        {"filePath": FILE},
    ),
    "Codex 0.169": (
        [
            *(tool("exec_command", "cmd"), tool("write_stdin", "session_id")),
            *(tool("view_image", "path"), tool("get_goal"), tool("create_goal", "objective")),
        ],
        "exec_command",
        {"cmd": f"cat {FILE}"},
    ),
    "a shell that takes words and a reason": (
        [
            tool("shell", "command", "justification", command={"type": "array", "items": TEXT}),
            tool("kill_shell", "command"),
        ],
        "shell",
        {"command": ["cat", FILE], "justification": "To read the notes."},
    ),
    "no more than a folder to search": (
        [tool("Glob", "pattern", "path"), tool("Task", "prompt")],
        "Glob",
        {"pattern": "*", "path": FOLDER},
    ),
    "many files in a list": (
        [tool("read_many_files", "paths", paths={"type": "array", "items": TEXT})],
        "read_many_files",
        {"paths": [FILE]},
    ),
    "a strict schema, which needs all and takes null": (
        [tool("read_file", "path", "limit", limit={"type": ["integer", "null"]})],
        "read_file",
        {"path": FILE, "limit": None},
    ),
    "the same, as a choice of types": (
        [tool("ls", "path", "depth", depth={"anyOf": [{"type": "integer"}, {"type": "null"}]})],
        "ls",
        {"path": FOLDER, "depth": None},
    ),
    "what needs nothing, where nothing has a place": (
        [tool("get_goal"), tool("update_goal", "status")],
        "get_goal",
        {},
    ),
}


@pytest.mark.parametrize("agent", AGENTS)
def test_the_tool_that_reads_is_called_with_what_it_needs(agent: str) -> None:
    offered, name, arguments = AGENTS[agent]
    call = harmless_call(offered, FOLDER)
    assert call is not None
    assert (call.tool, dict(call.arguments)) == (name, arguments)


@pytest.mark.parametrize(
    "offered",
    [
        pytest.param(tool("write_file", "path", "content"), id="it writes"),
        pytest.param(tool("read_and_delete", "path"), id="it does more than read"),
        pytest.param(tool("web_fetch", "url"), id="it reads elsewhere"),
        pytest.param(tool("read_webpage", "path"), id="it reads elsewhere, in one word"),
        pytest.param(tool("mcp__mail__list_messages"), id="it belongs to a server"),
        pytest.param(tool("get_customer", "customer"), id="it needs what nobody knows"),
        pytest.param(tool("read_file", "path", "sure"), id="it needs more than a place"),
        pytest.param(tool("BashOutput", "bash_id"), id="it reads what runs already"),
        pytest.param(tool("write_to_shell", "command"), id="it writes to what runs already"),
        pytest.param(tool("calculate", "expression"), id="its name says nothing"),
        pytest.param(OfferedFunction("list_files", {}), id="nobody says what it takes"),
    ],
)
def test_nothing_is_called_that_may_do_harm(offered: OfferedFunction) -> None:
    assert harmless_call([offered], FOLDER) is None


def test_nothing_is_called_where_no_folder_is_ours() -> None:
    offered, _, _ = AGENTS["opencode 1.18"]
    assert harmless_call(offered, "") is None


def test_a_path_with_a_space_is_one_word_of_a_command() -> None:
    call = harmless_call([tool("bash", "command")], "/tmp/my agent")
    assert call is not None
    assert call.arguments == {"command": f"cat '/tmp/my agent/{NOTES[0]}'"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(["read_file", "bash", "Glob", "get_goal", "x", ""])


@given(NAMES, JSON, st.lists(st.sampled_from(["path", "pattern", "command", "n"])) | JSON)
def test_whatever_a_stranger_offers_is_no_error(name: str, schema: Any, needed: Any) -> None:
    parameters = {"properties": {"path": schema, "pattern": TEXT, "command": schema}}
    tools = [{"name": name, "parameters": {**parameters, "required": needed}}, schema]
    harmless_call(offered_functions(tools), FOLDER)
