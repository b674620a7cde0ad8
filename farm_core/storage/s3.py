"""Store objects in a bucket of S3, or of a server with the same protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, cast

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from farm_core.storage.keys import FOLDERS, checked
from farm_core.storage.port import ObjectMissing, StorageUnavailable, StoredObject

if TYPE_CHECKING:
    from botocore.awsrequest import AWSResponse
    from botocore.response import StreamingBody
    from types_boto3_s3 import S3Client

_DEFAULT_TYPE = "application/octet-stream"
_PAGES = ("text/html", "text/plain")
_LINK_SECONDS_MAX = 7 * 24 * 3600
_MULTIPART_BYTES = 16 << 20
_TRANSFER = TransferConfig(
    multipart_threshold=_MULTIPART_BYTES, multipart_chunksize=_MULTIPART_BYTES, max_concurrency=4
)
# The timeouts add up to less than a minute, so that a worker that waits for a hung server does not count as hung
# itself.
_CONFIG = Config(
    retries={"total_max_attempts": 6, "mode": "standard"},
    connect_timeout=5,
    read_timeout=9,
    signature_version="s3v4",
    max_pool_connections=32,
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)


class S3Storage:
    """Objects in a bucket. Credentials come from the usual AWS variables, unless given."""

    def __init__(
        self,
        bucket: str,
        endpoint_url: str | None,
        region: str | None,
        credentials: tuple[str, str] | None = None,
    ) -> None:
        key_id, secret = credentials or (None, None)
        self._bucket = bucket
        # Use a separate session: boto3's default session keeps the first credentials.
        self._client: S3Client = boto3.Session().client(
            "s3",
            endpoint_url=endpoint_url,
            region_name=region or ("us-east-1" if endpoint_url else None),
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
            config=_CONFIG.merge(Config(s3={"addressing_style": "path"})) if endpoint_url else _CONFIG,
        )
        for operation in ("GetObject", "HeadObject", "PutObject", "UploadPart"):
            self._client.meta.events.register(f"after-call.s3.{operation}", _check_answer)

    def identity(self) -> str:
        """Return the name of the bucket. Addresses of its server can differ between processes."""
        return f"the bucket {self._bucket}"

    def put_file(self, key: str, path: Path, content_type: str = _DEFAULT_TYPE) -> None:
        """Store the content of a file, a large one in parts."""
        with _translated(checked(key)):
            self._client.upload_file(
                str(path), self._bucket, key, ExtraArgs={"ContentType": content_type}, Config=_TRANSFER
            )

    def put_bytes(self, key: str, data: bytes, content_type: str = _DEFAULT_TYPE) -> None:
        """Store bytes."""
        with _translated(checked(key)):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=data, ContentType=content_type)

    def get_file(self, key: str, path: Path) -> None:
        """Write the object's content to a file, atomically."""
        with _translated(checked(key)):
            self._client.download_file(self._bucket, key, str(path), Config=_TRANSFER)

    def get_bytes(self, key: str) -> bytes:
        """Return the object's content."""
        with _translated(key), self.open_range(key) as stream:
            return stream.read()

    def open_range(self, key: str, start: int = 0, end: int | None = None) -> BinaryIO:
        """Return a stream over bytes [start, end)."""
        with _translated(checked(key)):
            if start == 0 and end is None:
                answer = self._client.get_object(Bucket=self._bucket, Key=key)
            else:
                last = "" if end is None else str(end - 1)
                answer = self._client.get_object(Bucket=self._bucket, Key=key, Range=f"bytes={start}-{last}")
        return cast(BinaryIO, _Body(key, answer["Body"]))

    def describe(self, key: str) -> StoredObject:
        """Return size, time and content type."""
        with _translated(checked(key)):
            facts = self._client.head_object(Bucket=self._bucket, Key=key)
        return StoredObject(key, facts["ContentLength"], facts["LastModified"], facts["ContentType"])

    def exists(self, key: str) -> bool:
        """Return True if the key holds an object."""
        try:
            self.describe(key)
        except ObjectMissing:
            return False
        return True

    def check(self) -> None:
        """Raise StorageUnavailable if the server or bucket is away. The free space of a bucket is unknown."""
        try:
            with _translated(self._bucket):
                self._client.head_bucket(Bucket=self._bucket)
        except ObjectMissing:
            raise StorageUnavailable(f"there is no bucket {self._bucket}") from None

    def reserve_in_use(self) -> int:
        """Return 0: nothing limits the store."""
        return 0

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""
        try:
            with _translated(checked(key)):
                self._client.delete_object(Bucket=self._bucket, Key=key)
        except ObjectMissing:
            return

    def remove_unfinished(self, before: datetime) -> int:
        """Abort multipart uploads that started before the moment: a bucket keeps, and charges, their parts until
        then.

        Return 0 if the server or the credentials do not allow it: a lifecycle rule of the bucket can do it instead.
        """
        try:
            pages = list(self._client.get_paginator("list_multipart_uploads").paginate(Bucket=self._bucket))
            began = [upload for page in pages for upload in page.get("Uploads", []) if upload["Initiated"] < before]
            left = [upload for upload in began if upload["Key"].partition("/")[0] in FOLDERS]
            for upload in left:
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=upload["Key"], UploadId=upload["UploadId"])
        except ClientError:
            return 0
        except BotoCoreError as error:
            raise StorageUnavailable(str(error)) from error
        return len(left)

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        """Return every object whose key starts with the prefix. Their content types are unknown, so they are the
        default type."""
        with _translated(prefix):
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                for entry in page.get("Contents", []):
                    yield StoredObject(entry["Key"], entry["Size"], entry["LastModified"], _DEFAULT_TYPE)

    def link(self, key: str, expires_at: int, origin: str, filename: str | None = None) -> str:
        """Return a presigned URL of the bucket. `origin` is ignored. S3 allows at most seven days."""
        asked = {"Bucket": self._bucket, "Key": checked(key)}
        if filename:
            asked["ResponseContentDisposition"] = f'attachment; filename="{filename}"'
        seconds = max(1, min(expires_at - int(time.time()), _LINK_SECONDS_MAX))
        with _translated(key):
            return self._client.generate_presigned_url("get_object", asked, ExpiresIn=seconds)


def _check_answer(http_response: AWSResponse, **_: object) -> None:
    """Raise StorageUnavailable for the page of a gateway that answers in the place of S3. It would count as the object, as a stored
    one, or as the news that the object is gone."""
    if _is_page(http_response.status_code, http_response.headers):
        http_response.raw.close()  # of a GET: nobody reads the page
        raise StorageUnavailable(
            f"an answer {http_response.status_code} to a request for an object is not from S3, but from a gateway"
        )


def _is_page(status: int, headers: Mapping[str, str]) -> bool:
    """Return True if S3 sends no such answer: its successes have an entity tag, and its errors are XML, or empty with an id."""
    if status < 300:
        return "ETag" not in headers
    return status == 404 and "x-amz-request-id" not in headers and headers.get("Content-Type", "").startswith(_PAGES)


class _Body:
    """Stream of an object. It raises StorageUnavailable if the answer is cut off."""

    def __init__(self, key: str, body: StreamingBody) -> None:
        self._key, self._body = key, body

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes, or all that are left."""
        with _translated(self._key):
            return self._body.read(None if size < 0 else size)

    def close(self) -> None:
        """Close the connection."""
        self._body.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _translated(key: str) -> Iterator[None]:
    """Convert errors: a missing object to ObjectMissing, all others to StorageUnavailable."""
    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in ("404", "NoSuchKey", "NotFound"):
            raise ObjectMissing(key) from None
        raise StorageUnavailable(str(error)) from error
    except (BotoCoreError, Boto3Error) as error:
        raise StorageUnavailable(str(error)) from error
