"""One page per run for its subtypes: description and reliability."""
