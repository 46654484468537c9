"""Statistics, predictions and simulations from the review log, in SQL."""
