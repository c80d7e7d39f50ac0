"""HTTP/1.1 as every target speaks it: heads, requests, transfer chunks, endings of a connection.

`client` is a connection on which the toolkit asks, `server` one on which it answers; `requests`
reads a request, `chunked` reads and writes transfer chunks, `closing` ends a connection by FIN or
RST. Nothing here knows what is recorded, replayed or judged.
"""
