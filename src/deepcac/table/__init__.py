"""Tables of one's own: read, judged, described, turned into a risk model."""
