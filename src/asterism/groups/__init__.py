"""A model of groups that can be asked about new rows: views of rows, judges of them, and both together."""
