"""The other ends of a connection: servers, clients and gateways under test.

`replay` plays cassettes to a client. Modules here are the only ones that touch the network; each
is imported by the verb that needs it.
"""
