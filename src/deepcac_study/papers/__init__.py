"""Printed tables and claims of the five papers, and the rules that compare them with our results.

``papers.yaml`` has the references. The folder of a paper has its printed tables and their list
(``tables.csv``), its claims (``claims.csv``) and the rules that decide them (rows of ``rules.csv``,
with functions in ``checks`` for those that are more than a row), its settings and figures, and its
names for data sets and methods. ``rules`` has code that papers share to decide claims. The ledger
is in this folder.
"""
