"""Which values an agent is started with are keys."""

from __future__ import annotations

import pytest

from conformance.targets.agent.passed_keys import passed_keys

TOKEN = "n0-Sha/pe+at_all=77xY"


@pytest.mark.parametrize(
    ("environment", "words", "expected"),
    [
        ({"OTHER_API_KEY": TOKEN}, [], [TOKEN]),
        ({"HF_TOKEN": TOKEN, "AZURE_OPENAI_KEY": TOKEN}, [], [TOKEN, TOKEN]),
        ({"DB_PASSWORD": "correct-horse"}, [], ["correct-horse"]),
        ({"OPENAI_API_KEY": "played"}, [], []),
        ({"PWD": "/usr/bin", "MY_SECRET": "/usr/bin"}, [], []),
        ({"TOKENIZERS_PARALLELISM": "false-or-true-1", "HOTKEY": "control-shift"}, [], []),
        ({"MODEL": TOKEN}, [], []),
        ({}, ["env", f"A_TOKEN={TOKEN}", "agent"], [TOKEN]),
        ({}, ["agent", f"--api-key={TOKEN}"], [TOKEN]),
        ({}, ["agent", "--api-key", TOKEN], [TOKEN]),
        ({}, ["agent", "--model", TOKEN, "--api-key"], []),
    ],
)
def test_a_key_is_reported_by_its_name(
    environment: dict[str, str], words: list[str], expected: list[str]
) -> None:
    assert passed_keys(environment, words) == expected


NAMES = (
    *("OPENAI_API_KEY_2", "OPENAI_API_KEYS", "API_KEY_1", "AWS_ACCESS_KEY_ID", "GH_PAT", "JWT"),
    *("HF_TOKENS", "NPM_CONFIG__AUTH", "PGPASSWORD", "MYSQL_PWD", "DB_PASS", "SESSION_COOKIE"),
    *("ANTHROPIC_KEYS", "AUTH", "BEARER", "SECRETS", "CREDS", "NETRC", "KUBECONFIG_DATA", "KEY"),
    *("X_API_KEY_PROD", "CI_JOB_JWT_V2", "AWS_BEARER_TOKEN_BEDROCK", "openaiApiKey", "SESSIONID"),
)
DRAWN = "Zk9Qm3vX7Lr5tYpW8sBnHd2kLmN4pQ"
VALUES = (
    *("postgres://user:{}@db/x", "redis://:{}@h", "https://{}@o1.ingest.sentry.io/1"),
    *("http://u:{}@proxy:1", "x-api-key: {}", '{{"x-api-key":"{}"}}', "authorization=Basic {}"),
    *("https://hooks.slack.com/services/T00000000/B00000000/{}", '{{"private_key":"{}"}}'),
    *('{{"auths":{{"x":{{"auth":"{}"}}}}}}', "a=b, api_key={}"),
)
COMMANDS = (
    *(["-k", DRAWN], ["-p", DRAWN], ["-H", f"Authorization: Bearer {DRAWN}"]),
    *(["-H", f"x-api-key: {DRAWN}"], ["--header", f"x-api-key={DRAWN}"]),
    *(["bash", "-c", f"OPENAI_API_KEY={DRAWN} x"], ["--url", f"https://u:{DRAWN}@h/"]),
    ["bash", "-c", f'curl -H "x-api-key: {DRAWN}"'],
)


@pytest.mark.parametrize("name", NAMES)
def test_names_that_people_give_their_keys_are_known(name: str) -> None:
    assert passed_keys({name: DRAWN}, []) == [DRAWN]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_of_any_name_may_hold_one(value: str) -> None:
    assert DRAWN in passed_keys({"SETTING": value.format(DRAWN)}, [])


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_command_may_hold_one(words: list[str]) -> None:
    assert DRAWN in passed_keys({}, ["agent", *words])


def test_a_list_of_keys_is_one_key_each() -> None:
    other = DRAWN[::-1]
    assert passed_keys({"HF_TOKENS": f"{DRAWN},{other}"}, []) == [DRAWN, other]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKEN_LIMIT", "128000"),
        ("KEYBOARD", "us-intl-altgr"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXab12xQ/agent.1"),
        ("AUTH_TYPE", "oauth2-client"),
        ("SESSION_MANAGER", "local/host:@/tmp/.ICE-unix/1234"),
        ("LS_COLORS", "rs=0:di=01;34:ln=01;36"),
        ("DATABASE_URL", "postgres://db.example/x"),
    ],
)
def test_what_is_called_like_a_key_and_is_none_stays(name: str, value: str) -> None:
    assert passed_keys({name: value}, ["agent", "-p", "explain this", "-k", "test"]) == []
