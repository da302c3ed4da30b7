"""The small tables that are kept with the code, and the documentation's tables from them."""
