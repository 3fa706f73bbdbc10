"""Formats of files, one per file; ``base`` says what each must offer. A new format is one new file."""
