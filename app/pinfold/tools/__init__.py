"""What the agent may do in the workspace."""
