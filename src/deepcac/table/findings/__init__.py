"""What a data manager would say about a table before a model is made of it.

A check takes an `ExaminedTable` and yields findings. A finding is certain, and goes into the
description, or it is a question to whoever has the table.
"""
