"""Keys, channels and scripts of progress in Redis.

A job's progress is one hash, `progress:{job_id}`, which expires:

* `frames`, `of`: frames done, never decreasing, and frames of the whole job;
* `f:{index}`: most frames that any attempt of the segment has reached;
* `s:{index}`: the segment's latest state as JSON (fields of `JobChange`).

Changes are published on `changes:{account_id}`.
"""

from __future__ import annotations

from typing import Final

RUNNING_MS: Final = 24 * 3600 * 1000
"""Expiry of a running job's hash after its last write. Postgres still has the finished segments."""

ENDED_MS: Final = 60 * 1000
"""Expiry of an ended job's hash. Its row in Postgres has its final progress."""

PROGRESS_MAX: Final = 99.0
"""Maximum progress of a running job. Only a completed job has 100."""

# KEYS: the job's hash. ARGV: segment index, its finished frames, finished frames of the job according to Postgres,
# frames of the job, the segment's state as JSON, the channel, job id, account id, milliseconds to keep. A repeated
# attempt starts again at frame 0 and adds nothing until it passes the earlier one. Nothing is written after the job has
# ended.
WRITE: Final = """
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
local reached = tonumber(redis.call('HGET', KEYS[1], 'f:' .. ARGV[1]) or '0')
local gained = math.max(0, tonumber(ARGV[2]) - reached)
local counted = redis.call('HINCRBY', KEYS[1], 'counted', gained)
local finished = math.max(tonumber(redis.call('HGET', KEYS[1], 'finished') or '0'), tonumber(ARGV[3]))
local frames = math.max(counted, finished)
if gained > 0 then redis.call('HSET', KEYS[1], 'f:' .. ARGV[1], ARGV[2]) end
redis.call('HSET', KEYS[1], 'finished', finished, 'frames', frames, 'of', ARGV[4], 's:' .. ARGV[1], ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[9])
local change = cjson.decode(ARGV[5])
change['job_id'], change['account_id'] = ARGV[7], ARGV[8]
change['frames_done'], change['frame_count'] = frames, tonumber(ARGV[4])
change['progress'] = math.min(99, math.floor(1000 * frames / tonumber(ARGV[4])) / 10)
redis.call('PUBLISH', ARGV[6], cjson.encode(change))
return frames
"""


def key(job_id: str) -> str:
    """Return the key of the job's hash."""
    return f"progress:{job_id}"


def channel(account_id: str) -> str:
    """Return the channel of an account's changes."""
    return f"changes:{account_id}"
