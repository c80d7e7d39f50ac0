mkdir streams && cp "$ROOT"/cassettes/openai.chat/openai/*.cassette.jsonl streams/
