"""`conformance_server`: replays, records, and what it holds against a test."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, open_recording, write
from conformance.targets.replay import ReplayOptions, ThreadedServer, serving
from tests.plugin.conftest import PLAIN, Project, counts, recorded

ASKS = """
def test_asks(conformance_server):
    assert ask(conformance_server).status_code == 200
"""
HOME = "cassettes/test_client/test_asks"


def test_recording_of_the_marker_is_replayed(project: Project) -> None:
    project.take(PLAIN, "kept/plain.cassette.jsonl")
    project.tests(f"@pytest.mark.conformance('kept/plain.cassette.jsonl'){ASKS}")
    counts(project.run(), passed=1)


def test_miss_fails_a_test_whose_client_swallowed_it(project: Project) -> None:
    project.tests("def test_asks(conformance_server):\n    ask(conformance_server)")
    result = project.run()
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*miss: no recorded exchange answers POST*", "*record once*"])


def test_miss_shows_the_nearest_request_and_what_differs(project: Project) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests("def test_asks(conformance_server):\n    ask(conformance_server, n=2)")
    result = project.run()
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*nearest is 0001-chat exchange 1: n was not recorded, sent 2*"])


def test_hint_after_a_miss_records_it(project: Project, upstream: ThreadedServer) -> None:
    project.take(PLAIN, "shared/think.cassette.jsonl")
    mark = (
        "import pytest\n@pytest.mark.conformance('shared/think.cassette.jsonl', unused='ignore')\n"
    )
    project.tests(f"{mark}def test_asks(conformance_server):\n    ask(conformance_server, n=2)")
    result = project.run()
    counts(result, failed=1)
    result.stdout.fnmatch_lines(
        ["*what the marker names is only read: --conformance-record new_episodes *URL adds it to *"]
    )
    counts(project.run("--conformance-record=new_episodes", *url(upstream)), passed=1)
    counts(project.run(), passed=1)


def test_miss_never_goes_live(project: Project, upstream: ThreadedServer) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests("def test_asks(conformance_server):\n    ask(conformance_server, n=2)")
    for mode in ("none", "once"):
        counts(project.run(f"--conformance-record={mode}", *url(upstream)), failed=1)
    assert not upstream.requests


def url(server: ThreadedServer) -> tuple[str, str]:
    return "--conformance-url", f"{server.url}/v1"


def test_unused_exchange_fails(project: Project) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests("def test_asks(conformance_server):\n    pass")
    result = project.run()
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*never requested: 0001-chat exchange 1*"])


@pytest.mark.parametrize(
    ("marker", "ini"), [("@pytest.mark.conformance(unused='ignore')", ""), ("", "ignore")]
)
def test_unused_exchange_may_be_allowed(project: Project, marker: str, ini: str) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(f"{marker}\ndef test_asks(conformance_server):\n    pass")
    args = ("-o", f"conformance_unused={ini}") if ini else ()
    counts(project.run(*args), passed=1)


def test_failed_test_is_not_blamed_for_what_it_left_unused(project: Project) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests("def test_asks(conformance_server):\n    assert 0, 'its own reason'")
    result = project.run()
    result.stdout.no_fnmatch_line("*never requested*")
    result.stdout.fnmatch_lines(["*its own reason*"])


def test_once_records_and_then_replays(project: Project, upstream: ThreadedServer) -> None:
    project.tests(ASKS)
    counts(project.run("--conformance-record=once", *url(upstream)), passed=1)
    assert recorded(project) == ["0001-chat.cassette.jsonl"]
    assert upstream.requests == 1
    counts(project.run("--conformance-record=once", *url(upstream)), passed=1)
    counts(project.run(), passed=1)
    assert upstream.requests == 1
    fresh = open_recording(project.path / HOME / "0001-chat.cassette.jsonl")
    assert fresh.exchanges[0].chunks[-1].data == open_recording(PLAIN).exchanges[0].chunks[-1].data


RAW = (b'{"temperature": NaN}', b'\xef\xbb\xbf{"a":1}', b'{"a":"\xff"}', b"\x00 not JSON", b"{")


def test_bodies_that_are_no_json_are_read_back_whole(project: Project) -> None:
    (answer,) = open_recording(PLAIN).exchanges
    assert answer.request is not None
    asked = [replace(answer.request, json=None).with_raw(body) for body in RAW]
    upstream = project.path / "upstream.cassette.jsonl"
    write(
        upstream,
        Cassette(
            Header(),
            tuple(
                replace(answer, number=number, request=each) for number, each in enumerate(asked, 1)
            ),
        ),
    )
    project.tests(f"""
RAW = {RAW!r}

def test_asks(conformance_server):
    url = conformance_server + {answer.request.path!r}
    assert [httpx.post(url, content=body).status_code for body in RAW] == [200] * len(RAW)
""")
    with serving([upstream], options=ReplayOptions()) as server:
        counts(project.run("--conformance-record=once", *url(server)), passed=1)
    found = [
        exchange.request.raw
        for name in recorded(project)
        for exchange in open_recording(project.path / HOME / name).exchanges
        if exchange.request is not None
    ]
    assert found == list(RAW)
    counts(project.run(), passed=1)


def test_recording_leaves_nothing_else_over(project: Project, upstream: ThreadedServer) -> None:
    project.tests(ASKS)
    project.run("--conformance-record=once", *url(upstream))
    assert recorded(project, "cassettes/test_client") == ["test_asks"]


def test_new_episodes_asks_only_for_what_is_new(project: Project, upstream: ThreadedServer) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(f"{ASKS}    assert ask(conformance_server).status_code == 200\n")
    counts(project.run(), failed=1)
    counts(project.run("--conformance-record=new_episodes", *url(upstream)), passed=1)
    assert upstream.requests == 1
    assert recorded(project) == ["0001-chat.cassette.jsonl", "0002-chat.cassette.jsonl"]
    counts(project.run(), passed=1)


def test_record_all_replaces_recordings(project: Project, upstream: ThreadedServer) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(ASKS)
    counts(project.run("--conformance-record=all", *url(upstream)), passed=1)
    assert upstream.requests == 1
    assert recorded(project) == ["0001-chat.cassette.jsonl"]
    assert open_recording(project.path / HOME / recorded(project)[0]).header.origin == "live"


def test_all_keeps_what_was_not_requested_again(project: Project, upstream: ThreadedServer) -> None:
    kept = project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    other = kept.read_text(encoding="utf-8").replace('"json":{', '"json":{"n":2,', 1)
    kept.write_text(other, encoding="utf-8")
    project.tests(ASKS)
    counts(project.run("--conformance-record=all", *url(upstream)), passed=1)
    assert recorded(project) == ["0001-chat.cassette.jsonl", "0002-chat.cassette.jsonl"]


def test_rewrite_begins_again(project: Project, upstream: ThreadedServer) -> None:
    kept = project.take(PLAIN, f"{HOME}/0007-old.cassette.jsonl")
    kept.write_text(kept.read_text(encoding="utf-8").replace('"json":{', '"json":{"n":2,', 1))
    project.tests(ASKS)
    counts(project.run("--conformance-record=rewrite", *url(upstream)), passed=1)
    assert recorded(project) == ["0001-chat.cassette.jsonl"]


def test_server_that_is_not_there_leaves_no_recording(project: Project) -> None:
    project.tests("def test_asks(conformance_server):\n    ask(conformance_server)")
    nobody = ("--conformance-url", "http://127.0.0.1:9")
    result = project.run("--conformance-record=once", *nobody)
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*POST /v1/chat/completions got no answer*"])
    assert recorded(project) == []


def test_recording_without_a_server_is_reported(project: Project) -> None:
    project.tests(ASKS)
    result = project.run("--conformance-record=all")
    counts(result, errors=1)
    result.stdout.fnmatch_lines(["*recording (all) needs a server to record*"])


@pytest.mark.slow
def test_ci_records_nothing_unless_the_command_line_says_so(
    project: Project, upstream: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    project.tests(f"@pytest.mark.conformance(record='once'){ASKS}")
    counts(project.run("-o", "conformance_record=once", *url(upstream)), failed=1)
    assert not upstream.requests
    counts(project.run("--conformance-record=once", *url(upstream)), passed=1)


def test_record_mode_of_the_marker_counts(project: Project, upstream: ThreadedServer) -> None:
    project.tests(f"@pytest.mark.conformance(record='once', url={upstream.url!r}){ASKS}")
    counts(project.run(), passed=1)
    assert recorded(project) == ["0001-chat.cassette.jsonl"]


def test_record_mode_of_others_is_followed(project: Project, upstream: ThreadedServer) -> None:
    project.write(
        "conftest.py",
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--record-mode', dest='record_mode', default=None)\n",
    )
    project.tests(ASKS)
    counts(project.run("--record-mode=once", *url(upstream)), passed=1)
    assert recorded(project) == ["0001-chat.cassette.jsonl"]


def test_parameters_have_folders_of_their_own(project: Project, upstream: ThreadedServer) -> None:
    project.tests(
        "class TestIt:\n"
        "    @pytest.mark.parametrize('x', ['a/b', 'a-b'])\n"
        "    def test_asks(self, conformance_server, x):\n"
        "        ask(conformance_server)\n"
    )
    counts(project.run("--conformance-record=once", *url(upstream)), passed=2)
    names = recorded(project, "cassettes/test_client")
    assert len(names) == 2
    assert all(name.startswith("TestIt.test_asks-a-b-") for name in names)


def test_defaults_of_the_fixture_are_overridden_by_the_marker(project: Project) -> None:
    project.take(PLAIN, "kept/plain.cassette.jsonl")
    project.write(
        "conftest.py",
        "import pytest\n\n@pytest.fixture(scope='session')\ndef conformance_config():\n"
        "    return {'cassette': 'kept', 'cut': 'event:1'}\n",
    )
    cut = "def test_cut(conformance_server):\n    with pytest.raises(httpx.HTTPError):\n"
    whole = f"@pytest.mark.conformance(cut='event:99999'){ASKS}"
    project.tests(f"{cut}        ask(conformance_server)\n\n{whole}")
    counts(project.run(), passed=2)


@pytest.mark.parametrize(
    ("marker", "line"),
    [
        ("casette='x'", "*the marker conformance has no 'casette' (did you mean 'cassette'?)*"),
        ("'nowhere.sse'", "*nowhere.sse does not exist*"),
        ("record='twice'", "*record: expected one of none, once*"),
        ("unused='perhaps'", "*unused: expected fail or ignore*"),
        ("cut='event:1', stall='event:2'", "*either cut or stalls*"),
        ("ignore=3", "*ignore: expected a list of strings, got 3*"),
    ],
)
def test_wrong_marker_is_reported_in_one_line(project: Project, marker: str, line: str) -> None:
    project.tests(f"@pytest.mark.conformance({marker}){ASKS}")
    result = project.run()
    counts(result, errors=1)
    result.stdout.fnmatch_lines([line])
    result.stdout.no_fnmatch_line("*During handling*")


def test_secrets_of_a_client_are_not_recorded(project: Project, upstream: ThreadedServer) -> None:
    key = "sk-proj-" + "A1b2C3d4" * 5
    project.tests(
        "def test_asks(conformance_server):\n"
        "    httpx.post(conformance_server + '/v1/chat/completions', json=BODY,\n"
        f"               headers={{'authorization': 'Bearer {key}'}})\n"
    )
    counts(project.run("--conformance-record=once", *url(upstream)), passed=1)
    text = (project.path / HOME / "0001-chat.cassette.jsonl").read_text(encoding="utf-8")
    assert json.loads(text.partition("\n")[0])["cassette"]
    assert key not in text
