"""What the five papers print and claim, and the rules that compare it with finished work.

In the folder of a paper: its reference (``__init__``), its printed tables and their list
(``tables.csv``), its claims (``claims.csv``) and the rules that decide them (``claims``), its
settings and figures, and its names for data sets and methods. Beside the folders: the ledger, and
rules that papers share.
"""
