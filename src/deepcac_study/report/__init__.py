"""Tables, figures and pages of the report, from run records only."""
