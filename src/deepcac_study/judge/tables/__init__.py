"""Tables that are run in one job each, and which of their properties predict a gain."""
