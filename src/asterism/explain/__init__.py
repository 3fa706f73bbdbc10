"""What the groups are, in the user's own words and units."""
