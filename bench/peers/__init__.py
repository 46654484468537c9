"""One small server in each file: `add` and more tools, written as each library recommends.

Every file has `http_app`, and most have `stdio`. Run as a file such a server has one tool over stdio.
"""
