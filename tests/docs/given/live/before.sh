. "$ROOT/tests/docs/given/start.sh"
serve tests.fakes.chatty:APP 8000
UPSTREAM=http://127.0.0.1:9000/v1 serve tests.docs.losing_gateway:APP 8321
mkdir taken && cp "$ROOT"/cassettes/openai.chat/deepseek/thinking-then-text.cassette.jsonl taken/
export EXAMPLE_KEY=a-key-of-tests
