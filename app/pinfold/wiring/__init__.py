"""Where everything meets: settings, store, models, tools, sessions, screen."""
