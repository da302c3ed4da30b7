"""Rules to decide claims that several papers share."""
