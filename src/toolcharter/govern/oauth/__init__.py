"""Sign-in at governed servers over HTTP, as MCP clients do it. The protocol is in `mcp_core.auth.oauth`.

probe         the answer of a server to a request without a token
clients       the client for an authorization server: configured, by a metadata document, or registered
store         sign-ins of each owner, registrations, and attempts that are under way
attempts      one attempt to sign in, from the address that a person opens to the tokens
loopback      the end of an attempt at this machine
pages         the end of an attempt at a governor that is served over HTTP
credentials   what an upstream's requests are signed with, renewed in time
"""
