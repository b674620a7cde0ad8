"""All settings of the farm. Only this module reads the environment, and `.env` in the current folder.

The table in `docs/settings.md` is generated from the descriptions below, and a test compares them.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from difflib import get_close_matches
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from dotenv import load_dotenv
from dotenv.parser import parse_stream
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from farm_core.formats import OUTPUT_FORMATS
from farm_core.user_error import UserError

ROOT = Path(__file__).resolve().parents[1]
ENV_FILE: Final = ".env"
RAY_FINDS_IT: Final = "auto"
"""RAY_ADDRESS for the cluster that Ray finds on this machine."""
NEAR: Final = 0.85
"""Similarity of two names (0 to 1) from which one counts as a misspelling of the other."""
FORMAT_NAMES: Final = tuple(OUTPUT_FORMATS)

LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(str.upper)]


def _matching(pattern: str, expected: str) -> AfterValidator:
    """Return a validator: the whole value must match the pattern. Its error names the expected value in words."""

    def checked(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise ValueError(f"must be {expected}")
        return value

    return AfterValidator(checked)


def _addresses(value: str) -> str:
    """Return the list without blanks. Raises ValueError for an entry that is not an address, network or `*`: no proxy
    could match it."""
    parts = [part.strip() for part in value.split(",") if part.strip()]
    for part in parts:
        try:
            if part != "*":
                ip_network(part)
        except ValueError:
            raise ValueError(f"{part!r} is not an IP address, a network such as 10.0.0.0/8, or *") from None
    return "*" if "*" in parts else ",".join(parts)


def _server(value: str) -> str:
    """Return the address. Raises ValueError for an invalid port, or half an IPv6 address."""
    try:
        _ = urlsplit(value).port
    except ValueError as error:
        raise ValueError(f"the address cannot be read: {error}") from None
    return value


def _formats(value: str) -> str:
    """Return the list. Raises ValueError for an unknown format."""
    names = [name.strip() for name in value.split(",")]
    if unknown := [name for name in names if name not in OUTPUT_FORMATS]:
        raise ValueError(
            f"{unknown[0]!r} is no format; the formats are {', '.join(FORMAT_NAMES)}, with commas between them"
        )
    return value


def _not_above_most(least: int, info: ValidationInfo) -> int:
    """Return WORKERS_MIN. Raises ValueError if WORKERS_MAX is lower."""
    most: int | None = info.data.get("workers_max")
    if most is not None and least > most:
        raise ValueError(f"must be at most WORKERS_MAX, which is {most}")
    return least


WebAddress = Annotated[str, _matching(r"https?://\S+", "a web address such as https://server.example.com")]
Origin = Annotated[
    str,
    _matching(r"https?://[^/\s]+/?", "scheme and host alone, such as https://farm.example.com or http://10.0.0.5:8000"),
]
Origins = Annotated[
    str,
    _matching(
        r"(https?://[^/\s,]+(,\s*https?://[^/\s,]+)*)?",
        "scheme and host of each site, without a path, such as https://app.example.com, https://example.org",
    ),
]
Postgres = Annotated[
    str,
    _matching(r"(?s)postgres(ql)?(\+\w+)?://.*", "an address such as postgresql://user:password@db.example.com/farm"),
]
Redis = Annotated[
    str,
    _matching(r"(?s)(rediss?|unix)://.*", "an address such as redis://cache.example.com:6379/0"),
    AfterValidator(_server),
]
RayAddresses = Annotated[
    str,
    _matching(
        r"auto|\s*[^\s,/]+:\d+(\s*,\s*[^\s,/]+:\d+)*\s*",
        "host and port of Ray's control store, such as head.example.com:6379, or auto for the cluster of this machine",
    ),
]


class BadSettings(UserError):
    """A variable has an invalid value; the message names each one."""


class Settings(BaseSettings):
    """Settings of the farm. The environment variable of a field has its name in capitals."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore", frozen=True)

    data_folder: Path = Field(Path(".farm"), description="Folder of the data of embedded components.")
    database_url: Postgres | None = Field(None, description="Address of Postgres; an embedded server when unset.")
    redis_url: Redis | None = Field(None, description="Address of Redis or Valkey; an embedded server when unset.")
    s3_bucket: str | None = Field(
        None, description="S3 bucket of videos, segments and uploads; local files when unset."
    )
    s3_endpoint_url: WebAddress | None = Field(None, description="Address of an S3 server other than AWS.")
    s3_region: str | None = Field(None, description="Region of the bucket; the usual AWS variables apply too.")
    ray_address: RayAddresses | None = Field(
        None,
        description="Address of a Ray cluster, or several, separated by commas; a local cluster when unset. Each scheduler joins one "
        "(`python -m scheduler --cluster N`); `./farm up` starts schedulers for each.",
    )
    public_origin: Origin | None = Field(
        None,
        description="Public origin of the farm, such as `https://farm.example.com`, for absolute URLs (`videoUrl`, asset `url`); taken from "
        "the request when unset.",
    )
    jwt_secret: str | None = Field(
        None,
        min_length=32,
        description="Key of session tokens (HS256), at least 32 characters; when unset, the first start creates one in the data folder.",
    )
    jwt_jwks_url: WebAddress | None = Field(
        None, description="Address of a JWKS whose keys sign session tokens, instead of `JWT_SECRET`."
    )
    jwt_audience: str | None = Field(
        None, description="Required `aud` of tokens that are signed with a JWKS key; any when unset."
    )
    jwt_issuer: str | None = Field(
        None, description="Required `iss` of tokens that are signed with a JWKS key; any when unset."
    )
    cors_origins: Origins = Field(
        "",
        description="Origins that browsers may call `/api` and `/files` from, separated by commas; none when unset.",
    )
    automation_allow_private_callbacks: bool = Field(False, description="Let webhooks go to private addresses.")
    automation_allow_private_assets: bool = Field(
        False, description="Let `image` and `media` URLs point to private addresses."
    )
    automation_requests_per_minute_per_ip: int = Field(
        300, ge=1, description="Limit of requests a minute from one address."
    )
    automation_renders_per_minute: int = Field(
        60, ge=1, description="Limit of renders that an account creates a minute."
    )
    stills_per_minute: int = Field(
        300, ge=1, description="Limit of stills (previews, posters, thumbnails) of an account a minute."
    )
    batches_per_minute: int = Field(6, ge=1, description="Limit of batches that an account creates a minute.")
    statement_seconds_max: float = Field(
        15, gt=0, le=86_400,
        description="Limit of a database statement of the API and the console, waits for locks included. A request that exceeds it gets 503. "
        "Schedulers, commands and migrations have no limit.",
    )  # fmt: skip
    trusted_proxies: Annotated[str, AfterValidator(_addresses)] = Field(
        "",
        description="IP addresses or networks of trusted proxies, separated by commas. Their `X-Forwarded-*` headers count: the "
        "caller is the last address of `X-Forwarded-For` that is not a trusted proxy, with `*` simply the last one.",
    )
    font_folders: str = Field("", description="Additional folders of fonts, separated by `:`.")
    gl_software: bool = Field(False, description="Draw on the processor even if there is a GPU.")
    encoder: Literal["h264_nvenc", "libx264"] | None = Field(
        None, description="H.264 encoder to use, `h264_nvenc` or `libx264`; the first that passes a probe when unset."
    )
    encode_from_gpu: bool = Field(
        True,
        description="Pass frames to a GPU's encoder without a copy to main memory, if a probe gets the same bytes.",
    )
    workers: int | None = Field(
        None,
        ge=1,
        description="Workers on each machine; when unset, one for each GPU, or one for each core without a GPU.",
    )
    raster_threads: int | None = Field(
        None,
        ge=0,
        description="Additional threads with which a worker rasterises on software OpenGL; its share of the machine's cores when unset.",
    )
    segment_cache_bytes: int = Field(
        20_000_000_000,
        ge=0,
        description="Size of the cache of rendered segments; the least recently used are deleted first.",
    )
    output_formats: Annotated[str, AfterValidator(_formats)] = Field(
        "mp4",
        description="Formats that renders may use, separated by commas: "
        + ", ".join(f"`{name}`" for name in FORMAT_NAMES)
        + ".",
    )
    render_audio: bool = Field(False, description="Render the sound of new jobs; videos are silent otherwise.")
    result_days: float = Field(
        30,
        gt=0,
        le=36_500,
        description="Days after which an ended job and its video are deleted, and a revoked or expired API key.",
    )
    audit_days: float = Field(
        365, gt=0, le=36_500, description="Days after which an entry of the audit log is deleted."
    )
    metrics_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port of the scheduler's Prometheus metrics; no metrics when unset. Further schedulers on a machine use the next free ports.",
    )
    metrics_host: str = Field(
        "0.0.0.0",  # noqa: S104 - a private network, see SECURITY.md
        description="Address that `METRICS_PORT` listens on. `./farm up` uses that of `--host` when unset.",
    )
    workers_max: int | None = Field(
        None,
        ge=1,
        description="Most workers that a Ray cluster may grow to with the queue; a fixed number of workers when unset.",
    )
    workers_min: Annotated[int, AfterValidator(_not_above_most)] = Field(
        0, ge=0, description="Workers that stay while the queue is empty, if `WORKERS_MAX` is set."
    )
    workers_keep_seconds: float = Field(
        300,
        ge=0,
        allow_inf_nan=False,
        description="Seconds for which surplus workers stay after the queue has become shorter.",
    )
    workers_per_gpu: int = Field(1, ge=1, description="Workers on each GPU.")
    worker_memory_bytes: int = Field(
        1_500_000_000,
        ge=1,
        description="Memory above which a worker is replaced, between two tasks.",
    )
    frame_seconds_max: float = Field(
        30, gt=0, allow_inf_nan=False,
        description="Seconds without a new frame or a stored segment, or for opening a sound file, after which a worker is restarted. "
        "After three times with the same segment or file its job fails.",
    )  # fmt: skip
    segment_seconds_max: float = Field(
        900,
        gt=0,
        allow_inf_nan=False,
        description="Limit of a worker's time for a segment. A job that exceeds it fails.",
    )
    job_seconds_max: float = Field(
        14_400,
        gt=0,
        allow_inf_nan=False,
        description="Limit of workers' time for all segments of a job. A job that exceeds it fails.",
    )
    segment_memory_bytes_max: int = Field(
        4_000_000_000,
        ge=500_000_000,
        description="Memory limit of a worker's process. Beyond it, the worker is restarted, and the job that took most memory fails: at "
        "once if it exceeds the limit alone, otherwise after three times.",
    )
    drawing_sandbox: bool = Field(
        True,
        description="Block files and connections that drawing and the inspection of uploads do not need, where the kernel supports it.",
    )
    otel_exporter_otlp_endpoint: WebAddress | None = Field(
        None,
        description="OpenTelemetry collector (OTLP over HTTP) that receives traces; none are made when unset. The SDK's other "
        "variables (`OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS` ...) apply in every process.",
    )
    otel_exporter_otlp_traces_endpoint: WebAddress | None = Field(
        None, description="Full address for traces, instead of the collector's `/v1/traces`."
    )
    otel_service_name: str | None = Field(
        None, description="Service of all spans; `render-farm-api`, `-scheduler` and `-worker` when unset."
    )
    otel_sdk_disabled: bool = Field(False, description="Make no traces, whatever the endpoint.")
    log_level: LogLevel = Field(
        "INFO", description="Least level of log lines: `DEBUG`, `INFO`, `WARNING`, `ERROR` or `CRITICAL`."
    )

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """Return the origins in `cors_origins`."""
        return tuple(origin.strip() for origin in self.cors_origins.split(",") if origin.strip())

    @property
    def accepted_formats(self) -> tuple[str, ...]:
        """Return the names in `output_formats`."""
        return tuple(dict.fromkeys(name.strip() for name in self.output_formats.split(",")))

    @property
    def ray_addresses(self) -> tuple[str, ...]:
        """Return the addresses in `ray_address`, one for each Ray cluster, or none if it is not set."""
        return tuple(filter(None, (address.strip() for address in (self.ray_address or "").split(","))))

    @property
    def further_fonts(self) -> tuple[Path, ...]:
        """Return the operator's own font folders."""
        return tuple(Path(folder) for folder in self.font_folders.split(":") if folder)

    def for_workers(self) -> Settings:
        """Return the settings that render workers may know. They draw the documents of strangers and need neither the
        database nor the key of session tokens."""
        return self.model_copy(update={"database_url": None, "jwt_secret": None})


_OF_CHILDREN: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "HOME", "MAGIC")


def environment_of_children() -> dict[str, str]:
    """Return the environment for processes that read untrusted files: no secrets of the farm, only the interpreter's
    variables."""
    kept = {name: value for name in _OF_CHILDREN if (value := os.environ.get(name)) is not None}
    folders = filter(None, (str(ROOT), kept.get("PYTHONPATH")))
    return kept | {"PYTHONPATH": os.pathsep.join(folders), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def temporary_folder() -> Path:
    """Return the folder of temporary files that the operator chose (`TMPDIR`), or the system's. `tempfile` silently takes another
    one if it cannot write there, as on a full disk."""
    return Path(os.environ.get("TMPDIR") or tempfile.gettempdir())


def choose_font_configuration(folder: Path) -> None:
    """Make fontconfig use this folder instead of the machine's fonts, in this process and its children."""
    os.environ["FONTCONFIG_SYSROOT"] = str(folder)


def _misspelled() -> list[str]:
    """Return a warning for each name in `.env` that is similar to a setting's name, because it has no effect.

    Child processes inherit `.env` and do not repeat the warnings of their parent.
    """
    if not Path(ENV_FILE).is_file():
        return []
    with Path(ENV_FILE).open(encoding="utf-8") as file:
        written = [binding.key for binding in parse_stream(file) if binding.key is not None]
    known = [name.upper() for name in Settings.model_fields]
    remarks = []
    for name in written:
        # OpenTelemetry has many variables with similar names.
        if (
            name in known
            or name in os.environ
            or name.startswith("OTEL_")
            or not (near := get_close_matches(name, known, 1, NEAR))
        ):
            continue
        remarks.append(f"{name} in {ENV_FILE} is no setting; did you mean {near[0]}?")
    return remarks


@cache
def settings() -> Settings:
    """Return the settings of this process. Raises BadSettings.

    Variables in `.env` that the environment lacks are added to the environment, so that libraries (AWS) and child
    processes see them.
    """
    try:
        sys.stderr.writelines(f"farm: warning: {remark}\n" for remark in _misspelled())
        load_dotenv(ENV_FILE)
        return Settings()
    except ValidationError as error:
        faults = [
            f"{str(fault['loc'][0]).upper()}: {fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()
        ]
    except UnicodeDecodeError:
        faults = [f"{ENV_FILE} is not a text file of NAME=VALUE lines"]
    raise BadSettings("\n      ".join(["wrong settings (docs/settings.md has them all)", *faults]))
