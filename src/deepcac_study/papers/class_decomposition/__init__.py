"""Class decomposition: classes split into clusters before a simple classifier learns."""
