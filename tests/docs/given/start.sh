# Starts an ASGI application of the tests: serve MODULE:APP PORT
serve() {
    PYTHONPATH="$ROOT" "$PYTHON" -m uvicorn "$1" --port "$2" --log-level error >"server-$2.log" 2>&1 &
    for i in $(seq 200); do
        "$PYTHON" -c "import socket; socket.create_connection(('127.0.0.1', $2), 1)" 2>/dev/null && return
        sleep 0.1
    done
    cat "server-$2.log"
    return 1
}
