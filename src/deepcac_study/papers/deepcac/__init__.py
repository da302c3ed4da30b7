"""DeepCAC: clusters of learned representations that are separable by class."""
