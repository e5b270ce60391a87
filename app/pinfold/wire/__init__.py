"""Items to and from the providers' wire formats. Pure."""
