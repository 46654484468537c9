"""Serves apps: the command of a server, and one HTTP port for several apps with the console, health and metrics.

run              the command `NAME [stdio | http]`; otlp exports its spans and metrics
http             serves until a signal: opens the apps, drains, reports to systemd (notify)
  terminal       the text that shows what is served
  listener       the port or unix socket, and TLS
  supervisor     several workers on one listener; control and worker are its channel, worker_metrics the sum
server           the ASGI application: which app answers a request
  routes         health and metrics, beside the routes of a console
  calls          requests in progress, and the responses to those that are refused
  cors, proxies  requests from pages of other origins, and from behind a proxy
connections      limits of connections, in two protocol classes: http_protocol (httptools) and h11_protocol
  direct_heads   the heads of calls that are answered without ASGI
  direct_calls   such calls that arrive together
  joined_writes  one write for each response
  uvicorn_connection    the members of uvicorn's protocol classes that these use
"""
