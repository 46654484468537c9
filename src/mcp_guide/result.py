"""`Result`, under the path that the guide's conventions name."""

from toolcharter import Result

__all__ = ["Result"]
