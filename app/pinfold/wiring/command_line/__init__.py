"""The commands of the command line, as they are declared."""
