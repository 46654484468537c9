"""Text of servers, as terminals and browsers show it: escaped everywhere."""
