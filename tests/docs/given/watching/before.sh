. "$ROOT/tests/docs/given/start.sh"
serve tests.docs.leaky_server:APP 8000
echo '{"model": "chatty", "messages": [{"role": "user", "content": "Hi"}], "stream": true}' > body.json
