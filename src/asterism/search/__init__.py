"""What ``find`` does between reading a table and describing its groups: plan, choose, settle, ask again."""
