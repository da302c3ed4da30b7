"""The five papers: printed cells, claims, and the rules that hold them against runs."""
