"""Rules for what some clients or models reject. Each rule names its sources."""
