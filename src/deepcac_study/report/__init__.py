"""Tables, figures and the page, from run records alone."""
