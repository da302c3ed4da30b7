"""Our study: whether clustering helps a risk model that is tuned as hard as its rivals.

Every contender gets the same draws from a declared space on the same resamples; what each trial
answers on validation and test rows is kept, so that every way to choose among the trials is read
from what is stored.
"""
