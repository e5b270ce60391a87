"""The prompt: where the user writes."""
