"""A finding as one HTML file: finding -> subject (plain data) -> summary (JSON) -> figures and page."""
