. "$ROOT/tests/docs/given/start.sh"
serve tests.fakes.chatty:APP 8000
echo '{"model": "chatty", "messages": [{"role": "user", "content": "Hi"}], "stream": true}' > body.json
mkdir streams && cp "$ROOT"/cassettes/openai.chat/openai/padding-off.cassette.jsonl streams/
echo '{"a": 1}' > streams/one.json && echo '{"b": 2}' > streams/two.json && echo "a note" > streams/three.txt
