"""One small server a file: `add` and as many further tools as asked for, each as its makers would write it.

Every file has the same three functions: `in_memory`, `http_app` and `stdio`. Run as a file it serves one tool over
stdio.
"""
