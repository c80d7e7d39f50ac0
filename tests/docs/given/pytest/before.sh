. "$ROOT/tests/docs/given/start.sh"
serve tests.fakes.chatty:APP 8000
mkdir -p shared recorded own my_package
cp "$ROOT/tests/fakes/chatty.py" my_package/main.py && echo "app = APP" >> my_package/main.py
echo '{"model": "chatty", "messages": [{"role": "user", "content": "Hi"}], "stream": true}' > hi.json
conformance record --url http://127.0.0.1:8000/v1 --api chat --request hi.json -o shared/hi.cassette.jsonl
sed '1s/"expect": *{[^}]*},\{0,1\}//' "$ROOT/cassettes/mutants/summary/lifecycle/summary-streamed.cassette.jsonl" > recorded/think.cassette.jsonl
echo 'cassettes: [shared]' > client.conformance.yaml
echo '[pytest]' > pytest.ini
cp "$ROOT/tests/docs/given/answer.sse" own/
