"""Options of the command, their help, and what goes together."""
