"""Groups of patients, whoever made them: useful, assignable, more than the risk."""
