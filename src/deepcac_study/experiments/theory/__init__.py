"""Both sides of the theorems of the CAC papers, as measured."""
