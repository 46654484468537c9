"""One OAuth 2.1 client for all that sign in: at governed servers, at Atlassian, and at the console's provider.

http            requests to authorization servers, bounded in time and size
addresses       which addresses may be sent secrets
challenge       what a server that refuses a request asks for (RFC 6750, RFC 9728)
metadata        protected resources (RFC 9728) and authorization servers (RFC 8414, OpenID Connect Discovery)
clients         registered clients, and registration (RFC 7591)
authorization   authorization requests with PKCE (RFC 7636), and the redirects that answer them (RFC 9207)
loopback        the receiver of such a redirect on this machine (RFC 8252)
tokens          token requests, client authentication and revocation (RFC 6749, RFC 7009)
renewal         one renewal for all calls that need a new token
"""
