"""Experiments on networks: fits, what their parts are worth, who is in their clusters."""
