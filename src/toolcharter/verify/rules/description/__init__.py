"""What agents choose tools by."""
