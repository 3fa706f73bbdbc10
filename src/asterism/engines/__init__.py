"""WHO RUNS IT: two verbs over blocks (``reduce``, ``map_rows``), and the loop that uses them."""
