"""pinfold inside other agents: the answer of its hook, and the hook in their settings."""
