. "$ROOT/tests/docs/given/start.sh"
serve tests.fakes.chatty:APP 8000
mkdir -p recorded rules
cp "$ROOT"/cassettes/openai.chat/copilot/*.cassette.jsonl recorded/
export STAGING_KEY=drawn-4f5Ab1cAb1cAb1c
