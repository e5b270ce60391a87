"""Sessions of other tools, kept here before those tools delete them."""
