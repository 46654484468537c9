"""The hints that clients use before they let an agent call a tool."""
