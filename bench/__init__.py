"""Measurements beside other servers, in one run: `python -m bench --help`."""
