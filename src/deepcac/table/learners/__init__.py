"""What a risk model of a table can be in a cluster: planes, planes over splines, boosted trees."""
