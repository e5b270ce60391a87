"""The session thinned to a token budget: what was said, and a line for each thing done."""
