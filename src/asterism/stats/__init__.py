"""BLOCK -> STATISTIC -> MERGE: what a method needs to know of the rows, and no more."""
