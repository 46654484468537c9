"""One small server in each file: `add` and more tools, written as each library recommends.

Every file has the same three functions: `in_memory`, `http_app` and `stdio`. Run as a file it serves one tool over
stdio.
"""
