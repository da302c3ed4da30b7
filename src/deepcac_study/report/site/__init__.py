"""The report as a whole: what it is made from, its first page, the frame of every page."""
