"""The session thinned to a budget: what was said, and a line for all that was done."""
