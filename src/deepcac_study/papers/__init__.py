"""What the five papers print and claim, and the rules that compare it with finished work.

``papers.yaml`` has the references. In the folder of a paper: its printed tables and their list
(``tables.csv``), its claims (``claims.csv``) and the rules that decide them (rows of ``rules.csv``,
and ``claims`` for those that are more than a row), its settings and figures, and its names for data
sets and methods. In ``rules``: what papers share to decide claims. Beside the folders: the ledger.
"""
