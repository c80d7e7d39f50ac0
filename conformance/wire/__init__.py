"""HTTP/1.1 for all targets: heads, requests, transfer chunks, endings of a connection.

`client` is a connection on which the toolkit sends requests, `server` one on which it answers;
`requests` reads a request, `closing` ends a connection by FIN or RST; transfer chunks and content
codings are in `core`, because files have them too. This package does not record, replay or judge.
"""
