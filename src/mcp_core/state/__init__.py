"""The state that calls share: rate limits, cached answers and used confirmations, in memory or in Redis."""
