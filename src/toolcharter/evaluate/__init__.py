"""Measures which tool is selected for what people say: cases, selectors and metrics."""
