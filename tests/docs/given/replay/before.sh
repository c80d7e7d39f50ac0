mkdir recorded && cp "$ROOT"/cassettes/openai.chat/openai/*.cassette.jsonl recorded/
cp "$ROOT"/cassettes/openai.chat/deepseek/thinking-then-text.cassette.jsonl think.cassette.jsonl
"$PYTHON" -c 'import json; lines = open("recorded/padding-off.cassette.jsonl"); next(lines); print(json.dumps(json.loads(next(lines))["request"]["json"]))' > request.json
