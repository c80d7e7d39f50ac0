"""Live traffic, as a developer sees it: exchanges that pass through a relay, judged as they come.

Rule 1: what passes is never held up: the relay's loop only puts messages into a `TrafficFeed`, and
a separate thread judges and draws.
Rule 2: memory is bounded however long it runs: of exchanges that are over the oldest are dropped,
and of a body that is too long no more is kept than what the lanes show.
Rule 3: what a stream says reaches the terminal only as printable characters.
Rule 4: nothing is written without an option.
"""
