"""Speed, memory and objective beside those of other libraries, in one run on one machine: ``python -m bench``."""
