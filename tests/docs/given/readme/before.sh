. "$ROOT/tests/docs/given/start.sh"
serve tests.docs.leaky_server:APP 8000
UPSTREAM=http://127.0.0.1:9000/v1 serve tests.docs.losing_gateway:APP 8321
