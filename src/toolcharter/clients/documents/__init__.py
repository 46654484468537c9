"""Files of settings that people write: changed in the text, so that comments and layout stay as they are.

Each module has three functions: `read(text)`, `set_value(text, path, value)` and `remove(text, path)`.
"""
