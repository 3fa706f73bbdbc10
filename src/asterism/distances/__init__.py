"""How unlike two rows are: for numbers, for tables of every kind, by any function, or as given."""
