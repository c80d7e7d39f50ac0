mkdir recordings && cp "$ROOT"/cassettes/openai.responses/ogx/live-*.cassette.jsonl recordings/
