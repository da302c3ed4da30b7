"""Rules that papers share, and the tables of claims that are only arms, a share and a direction."""
