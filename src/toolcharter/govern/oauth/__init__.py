"""Sign-in at governed servers over HTTP, as MCP clients do it: OAuth 2.1 with discovery, registration and PKCE.

challenge     what a server that refuses a request asks for
metadata      where its tokens come from: RFC 9728, RFC 8414, OpenID Connect Discovery
clients       how we are known there: configured, by a metadata document, or registered
tokens        tokens from a code, a refresh token or our own credentials
store         what is kept: sign-ins of each owner, registrations, attempts that are under way
attempts      one attempt to sign in, from the address that a person opens to the tokens
loopback      where the browser comes back to on this machine
pages         where it comes back to if the governor is served over HTTP
credentials   what an upstream's requests are signed with, renewed in time
"""
