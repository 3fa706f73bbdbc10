"""How many groups, and which: rows as they are seen, proposals, their evidence, one judge, one decision."""
