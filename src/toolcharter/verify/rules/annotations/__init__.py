"""What clients decide by, before they let an agent call a tool."""
