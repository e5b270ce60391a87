"""pinfold: an agent shell whose context window can be seen, steered and undone."""

__version__ = "0.1.0"
