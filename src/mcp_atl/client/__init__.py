"""The HTTP client of a site: requests, retries, and errors in our own types."""
