"""Records of finished work: written, read by kind, kept in archives, checked against others."""
