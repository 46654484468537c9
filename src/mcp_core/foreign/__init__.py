"""Work on foreign data: a budget that is looked at first, and processes for code that could not be stopped here."""
