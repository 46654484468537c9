"""From what people write to what the site understands: references, users, fields, dates."""
