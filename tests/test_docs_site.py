"""The documentation builds as a site: without network, and with valid links, anchors and cross-references."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.thorough
def test_the_site_builds_without_warnings_or_requests_to_other_hosts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    index = (tmp_path / "site" / "index.html").read_text()
    assert 'src="https://' not in index and 'href="https://fonts' not in index
    assert 'id="motion.bundle.read_document"' in (tmp_path / "site" / "reference" / "motion.html").read_text()
    assert 'href="effects-code.html"' in (tmp_path / "site" / "CONTRIBUTING.html").read_text()
