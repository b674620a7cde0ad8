"""The documentation builds as a site: without network, and with valid links, anchors and cross-references."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.thorough
def test_the_site_builds_without_warnings_or_requests_to_other_hosts() -> None:
    command = [sys.executable, "-m", "farm_core", "docs"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    index_path = Path(done.stdout.strip())
    site, index = index_path.parent, index_path.read_text()
    assert 'src="https://' not in index and 'href="https://fonts' not in index
    assert 'id="motion.bundle.read_document"' in (site / "reference" / "motion.html").read_text()
    assert 'href="effects-code.html"' in (site / "CONTRIBUTING.html").read_text()
