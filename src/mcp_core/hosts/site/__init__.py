"""One HTTP port for several apps: their MCP endpoints, a page, health and metrics.

serving          serves until a signal: opens the apps, drains, reports to systemd (notify)
  listener       the port or unix socket, and TLS
  supervisor     several workers on one listener; control and worker are its channel, worker_metrics the sum
server           the ASGI application: which app answers a request
  routes, page   health and metrics; the page for people, and the text in the terminal
  calls          requests in progress, and the responses to those that are refused
  cors, proxies  requests from pages of other origins, and from behind a proxy
connections      limits of connections, in two protocol classes: http_protocol (httptools) and h11_protocol
  quick_heads    heads of quick calls that were seen before
  corked         one write for each response
"""
