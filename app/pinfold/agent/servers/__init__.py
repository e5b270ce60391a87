"""MCP servers in a session: what the model is told of them, their tools, what the user does."""
