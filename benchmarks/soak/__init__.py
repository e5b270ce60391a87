"""A scripted agent that works for thousands of turns in a small window."""

TITLE = "Soak: a scripted agent of 2,000 turns in a window of 8,192 tokens."
