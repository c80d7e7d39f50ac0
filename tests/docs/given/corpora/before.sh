mkdir logs && cp "$ROOT"/cassettes/openai.chat/openai/*.cassette.jsonl logs/
