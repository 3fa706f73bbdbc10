"""STATISTIC -> UPDATE -> MODEL: the mathematics, which takes statistics and never the table."""
