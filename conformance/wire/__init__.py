"""HTTP/1.1 as every target speaks it: heads, requests, transfer chunks, endings of a connection.

`client` is a connection on which the toolkit asks, `server` one on which it answers; `requests`
reads a request, `closing` ends a connection by FIN or RST; transfer chunks and content codings
are in `core`, for files hold them, too. Nothing here knows what is recorded, replayed or judged.
"""
