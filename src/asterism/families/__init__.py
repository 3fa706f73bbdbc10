"""Component distributions, one per file; ``base`` says what each must offer."""
