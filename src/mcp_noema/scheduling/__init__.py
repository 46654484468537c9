"""When a card is shown again: FSRS, its parameters, and the daily work that follows. No I/O."""
