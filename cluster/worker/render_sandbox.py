"""Sandbox of a render thread: access to its scratch folder, storage, and files of Python, fonts and drivers.

The sandbox prevents libraries that parse user files (decoders, SVG, fonts) from opening other files and connections. It is
one of several defences: it restricts the render thread and its helper threads, not the threads that talk to Ray and Redis.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from farm_core import landlock
from farm_core.landlock import Policy, SandboxUnavailable
from farm_core.settings import ENV_FILE, ROOT, Settings
from farm_core.telemetry import logs
from gpu_renderer.content.text.folders import fonts_folder

_log = logs.logger(__name__)

_SYSTEM: Final = (
    "/usr", "/lib", "/lib64", "/bin", "/opt", "/sys", "/etc/fonts", "/etc/ssl", "/etc/pki", "/etc/ca-certificates",
    "/etc/ld.so.cache", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/localtime",
    "/etc/glvnd", "/etc/OpenCL", "/etc/vulkan", "/etc/nvidia", "/etc/drirc", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/proc/self", "/proc/sys", "/proc/driver", "/proc/devices", "/proc/modules", "/run/systemd/resolve", "/run/nvidia",
)  # fmt: skip
_DEVICES: Final = ("/dev",)
_CREDENTIALS: Final = ("~/.aws",)
_DNS_PORT: Final = 53


def policy_of(settings: Settings, scratch: Path) -> Policy:
    """Return the policy of a render thread."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, *(path for path in sys.path if path)}
    fonts = (fonts_folder(), *settings.further_fonts)
    read = [*map(Path, sorted(prefixes)), ROOT, *fonts, *map(Path, _SYSTEM), *_credentials(settings)]
    write = [scratch]
    if settings.s3_bucket is None:
        write.append(settings.data_folder.resolve() / "storage")
    secret = [settings.data_folder.resolve(), ROOT / ENV_FILE, Path.cwd() / ENV_FILE]
    allowed = [found for path in read for found in _without(path, secret)]
    return Policy(tuple(dict.fromkeys(allowed)), tuple(write), tuple(map(Path, _DEVICES)), _ports(settings))


def enter(settings: Settings, scratch: Path) -> bool:
    """Restrict this thread. Return False if the kernel has no Landlock; drawing then continues without a sandbox."""
    if not settings.drawing_sandbox:
        return False
    policy = policy_of(settings, scratch)
    for folder in policy.write:
        folder.mkdir(parents=True, exist_ok=True)
    try:
        abi = landlock.enter(policy)
    except SandboxUnavailable as error:
        _log.warning("drawing has no sandbox", reason=str(error))
        return False
    _log.info("drawing is in a sandbox", landlock=abi)
    return True


def _without(path: Path, secret: list[Path]) -> list[Path]:
    """Return the path, or the entries of it that contain no secret. Never return `/`, which would allow everything."""
    resolved = path.resolve()
    if resolved == Path("/") or any(resolved.is_relative_to(hidden) for hidden in secret):
        return []
    if not any(hidden.is_relative_to(resolved) for hidden in secret):
        return [path]
    return [found for child in resolved.iterdir() for found in _without(child, secret)] if resolved.is_dir() else []


def _credentials(settings: Settings) -> list[Path]:
    """Return the files with the bucket's credentials, which are read again when they expire."""
    if settings.s3_bucket is None:
        return []
    return [Path(name).expanduser() for name in _CREDENTIALS] + [Path("/var/run/secrets")]


def _ports(settings: Settings) -> tuple[int, ...]:
    """Return the ports of the S3 endpoint, or AWS's default ports. Proxies are not supported."""
    if settings.s3_bucket is None:
        return ()
    server = urlsplit(settings.s3_endpoint_url or "https://s3")
    port = server.port or (80 if server.scheme == "http" else 443)
    return tuple(sorted({port, 443, 80, _DNS_PORT}))
