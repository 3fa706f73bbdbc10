from __future__ import annotations

from hypothesis import settings

# Under a sanitizer, or on a busy machine, an example may take as long as it takes.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
