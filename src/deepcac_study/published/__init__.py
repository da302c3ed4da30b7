"""What the papers' programs did otherwise than their text says."""
