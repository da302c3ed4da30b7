"""`deepcac power`: the gain by clusters that a table could show, before anything is compared."""
