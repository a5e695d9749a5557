"""What surrounds a target once its blanket is known: neighbours, spouses, groups, directions."""
