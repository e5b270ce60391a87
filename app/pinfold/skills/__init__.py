"""Skills and slash commands that the user or a project wrote as Markdown files."""
