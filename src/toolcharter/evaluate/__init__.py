"""Which tool would be selected for what a person says: cases, selectors and figures."""
