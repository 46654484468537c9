"""Side by side with peers, in one run: `python -m bench --help`."""
