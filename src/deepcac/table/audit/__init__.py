"""Groups of patients, whoever made them: of use, assignable, more than the risk."""
