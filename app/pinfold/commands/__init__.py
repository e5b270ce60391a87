"""One registry of actions for slash commands, keys, the palette and the CLI."""
