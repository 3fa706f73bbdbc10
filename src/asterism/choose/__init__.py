"""How many groups: criteria that compare fits, and words for what they say."""
