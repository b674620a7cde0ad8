"""Generate a migration from the difference between the models and the newest schema, in a temporary Postgres.

`python -m cluster.embedded.new_migration "what changes"` prints the file. Read it before you commit it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from cluster.embedded import postgres
from farm_core.db import migrate


def main(words: list[str]) -> int:
    """Write one migration. Return 2 if the message is missing."""
    if len(words) != 1:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="farm-migration-") as folder:
        server = postgres.start(Path(folder) / "postgres", durable=False)
        try:
            migrate.upgrade(server.url)
            written = migrate.revision(server.url, words[0])
        finally:
            server.stop()
    sys.stdout.write(f"{written}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
