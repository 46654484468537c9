"""Types for the arguments of tools: models, branded ids, pages, ranges of dates."""

from mcp_core.tool_arguments import BrandedId, CommonMetadata, DateRange, Pagination, Sorting, ToolArguments, UserId

__all__ = ["BrandedId", "CommonMetadata", "DateRange", "Pagination", "Sorting", "ToolArguments", "UserId"]
