"""The report as a whole: its material, its first page, and the layout of every page."""
