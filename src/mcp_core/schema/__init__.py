"""JSON schemas of any server, as data that may be anything: the one walker, references, and typed fields.

walk          all schemas inside a schema, each with its path; the arguments of a tool
references    local references, followed and written out
fields        the value under a keyword, if it has the type that it should have
"""
