"""Choose the storage from the settings."""

from __future__ import annotations

from farm_core.secret import farm_secret
from farm_core.settings import Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import Storage


def storage_of(settings: Settings, links: Links | None = None) -> Storage:
    """Return the S3 bucket if one is set, or else files in the data folder. S3 signs its own links.

    `links` signs links to files; the farm's secret signs them by default.
    """
    if settings.s3_bucket is None:
        return LocalStorage(settings.data_folder / "storage", links or Links(farm_secret(settings)))
    from farm_core.storage.s3 import S3Storage  # noqa: PLC0415 - boto3 is slow to import

    return S3Storage(settings.s3_bucket, settings.s3_endpoint_url, settings.s3_region)
