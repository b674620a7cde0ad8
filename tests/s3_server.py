"""A real S3 server as a process. Its objects are files in a folder, so it can be killed and started again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cluster.local.ray_head import free_port
from tests.patience import HANG_SECONDS

BUCKET: Final = "bucket"
ACCESS: Final = ("access", "secret")


@dataclass(slots=True)
class S3Server:
    """`rclone serve s3` on a folder, always on the same port."""

    folder: Path
    port: int = field(default_factory=free_port)
    host: str = "127.0.0.1"
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://{self.host}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings of a farm that uses the server."""
        return {
            "S3_BUCKET": BUCKET, "S3_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": ACCESS[0], "AWS_SECRET_ACCESS_KEY": ACCESS[1],
        }  # fmt: skip

    def start(self) -> None:
        """Start the server on the existing folder; return when it listens."""
        (self.folder / BUCKET).mkdir(parents=True, exist_ok=True)
        command = [
            str(Path(sys.executable).with_name("rclone")), "serve", "s3", "--addr", f"{self.host}:{self.port}",
            "--auth-key", ",".join(ACCESS), str(self.folder),
        ]  # fmt: skip
        environment = os.environ | {"RCLONE_CONFIG": str(self.folder.with_suffix(".conf"))}
        silence = subprocess.DEVNULL
        self.process = subprocess.Popen(command, env=environment, stdout=silence, stderr=silence)
        deadline = time.monotonic() + HANG_SECONDS
        while not self._listens():
            assert self.process.poll() is None, "the S3 server ended"
            assert time.monotonic() < deadline, "the S3 server does not listen"
            time.sleep(0.01)

    def kill(self) -> None:
        """Kill the server."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self.host, self.port)) == 0
