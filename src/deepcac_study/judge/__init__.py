"""Our study: whether clustering helps a risk model that is tuned as hard as its rivals.

Every contender gets the same number of draws from a declared space on the same resamples. The
predictions of each trial for validation and test rows are stored, so that every way to choose
among the trials can be evaluated later.
"""
