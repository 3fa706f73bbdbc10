"""How long a user waits before anything happens: `import asterism`, `asterism --help`."""

from __future__ import annotations

import subprocess
import sys
import time

BARS = {"import asterism": 0.4, "asterism --help": 0.5}  # seconds, warm
COMMANDS = {
    "import asterism": [sys.executable, "-c", "import asterism"],
    "asterism --help": [sys.executable, "-m", "asterism.cli.main", "--help"],
}


def main() -> None:
    """Print the best of seven of each, beside its bar."""
    for name, command in COMMANDS.items():
        times = []
        for _ in range(7):
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.perf_counter() - began)
        print(f"{name:16s} {min(times):.3f} s   bar {BARS[name]} s")


if __name__ == "__main__":
    main()
