. "$ROOT/tests/docs/given/start.sh"
serve tests.docs.leaky_server:APP 8000
echo '{"model": "chatty", "messages": [{"role": "user", "content": "Hi"}], "stream": true}' > body.json
export EXAMPLE_KEY=a-key-of-tests
mkdir fixtures && cat > fixtures/thinking.json <<'END'
{"description": "thinking and text", "recorded_at": "2026-11-20T10:00:00Z", "events": [
  {"data": "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"So.\"},\"finish_reason\":null}]}"},
  {"data": "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}"}
]}
END
