"""What the core asks of the outside: models, tools, the user's consent, memories, the clock."""
