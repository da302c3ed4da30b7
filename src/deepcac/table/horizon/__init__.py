"""`deepcac compare --time --horizon`: risks of an event by a horizon, on the page."""
