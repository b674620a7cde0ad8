-- Statements that carry meaning: each is loaded by its name. Times come in as parameters, so that tests can move the clock.

-- claim_jobs --
-- The next queued jobs, each for exactly one scheduler. Accounts take turns by what they have in processing; within an
-- account a job's place is its length less the time it has waited, so short jobs overtake and long ones do not starve.
WITH busy AS (
    SELECT account_id, count(*) AS jobs FROM jobs WHERE status = 'processing' GROUP BY account_id
), ranked AS (
    SELECT jobs.id, jobs.created_at, coalesce(busy.jobs, 0) + row_number() OVER (
        PARTITION BY jobs.account_id
        ORDER BY jobs.reserved_ms - 1000 * extract(epoch FROM CAST(:now AS timestamptz) - jobs.created_at), jobs.id
    ) AS turn
    FROM jobs LEFT JOIN busy USING (account_id) WHERE jobs.status = 'queued'
), best AS (
    SELECT jobs.id FROM jobs JOIN ranked USING (id)
    WHERE jobs.status = 'queued' AND ranked.turn <= :account_jobs_max
    ORDER BY ranked.turn, ranked.created_at, jobs.id LIMIT :jobs_max FOR UPDATE OF jobs SKIP LOCKED
), claimed AS (
    UPDATE jobs SET status = 'processing', started_at = :now, attempt = attempt + 1, lease_token = :token || '.' || jobs.id,
        lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
    FROM best WHERE jobs.id = best.id
    RETURNING jobs.id, jobs.lease_token, jobs.attempt
), told AS (
    INSERT INTO job_events (job_id, at, event, status) SELECT id, :now, 'claim', 'processing' FROM claimed
)
SELECT id, lease_token, attempt FROM claimed

-- adopt_jobs --
-- Jobs whose scheduler went away before it had planned them.
WITH orphans AS (
    SELECT id FROM jobs WHERE status = 'processing' AND lease_expires_at < :now
    ORDER BY lease_expires_at LIMIT :jobs_max FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET attempt = attempt + 1,
    lease_token = :token || '.' || jobs.id, lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
FROM orphans WHERE jobs.id = orphans.id
RETURNING jobs.id, jobs.lease_token, jobs.attempt

-- renew_jobs --
-- Those of my jobs that are still mine, for longer.
UPDATE jobs SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
WHERE lease_token = ANY(:tokens) AND status = 'processing'
RETURNING lease_token

-- release_jobs --
-- Jobs that are not planned are handed back: somebody may adopt them at once. A stopping scheduler does not count its try.
UPDATE jobs SET lease_expires_at = CAST(:now AS timestamptz) - interval '1 second', attempt = attempt - :uncounted
WHERE lease_token = ANY(:tokens) AND status = 'processing'

-- claimed_job --
-- All that ingest and plan need of a job that is still mine.
SELECT jobs.id, jobs.account_id, jobs.origin, jobs.inputs, jobs.width, jobs.height, jobs.fps, jobs.frame_count, jobs.document_key,
    jobs.media, jobs.attempt, jobs.template_id, templates.document_key AS template_document_key,
    templates.inputs AS template_inputs, templates.targets AS template_targets, templates.composition_id, templates.duration_seconds
FROM jobs JOIN templates ON templates.id = jobs.template_id
WHERE jobs.id = :job_id AND jobs.lease_token = :token AND jobs.status = 'processing'

-- freeze_job --
-- Ingest is done: the frozen document and its media, once. No row: somebody else decided.
UPDATE jobs SET document_key = :document_key, media = CAST(:media AS jsonb), ingest_bytes = :ingest_bytes
WHERE id = :job_id AND lease_token = :token AND status = 'processing' AND document_key IS NULL
RETURNING id

-- plan_job --
-- The job is planned: from here on its tasks carry it and it needs no scheduler of its own.
WITH planned AS (
    UPDATE jobs SET plan_key = :plan_key, renderer = :renderer, lease_token = NULL, lease_expires_at = NULL
    WHERE id = :job_id AND lease_token = :token AND status = 'processing'
    RETURNING id
), cut AS (
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT planned.id || '.' || task.index, planned.id, task.index, task.kind, task.first_frame, task.frame_count,
        'pending', 0, :now
    FROM planned, unnest(CAST(:indexes AS int[]), CAST(:kinds AS text[]), CAST(:first_frames AS int[]),
        CAST(:frame_counts AS int[])) AS task(index, kind, first_frame, frame_count)
), told AS (
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT id, :now, 'plan', 'processing', CAST(:detail AS jsonb) FROM planned
)
SELECT pg_notify('tasks', id) FROM planned

-- same_result --
-- A video that depends on exactly the same things is there already.
SELECT video_key, receipt_key FROM jobs
WHERE account_id = :account_id AND plan_key = :plan_key AND status = 'completed'
ORDER BY finished_at DESC LIMIT 1

-- open_work --
-- Every job in processing with what it has in flight and its first waiting tasks. The assembly waits for all segments.
SELECT jobs.id, jobs.account_id, jobs.fps, jobs.created_at, jobs.renderer, amounts.leased_frames, amounts.open_frames,
    heads.id AS task_id, heads.kind, heads.frame_count, heads.avoid_worker
FROM jobs
CROSS JOIN LATERAL (
    SELECT coalesce(sum(frame_count) FILTER (WHERE status = 'leased'), 0) AS leased_frames,
        coalesce(sum(frame_count) FILTER (WHERE kind = 'render'), 0) AS open_frames
    FROM tasks WHERE tasks.job_id = jobs.id AND tasks.status IN ('pending', 'leased')
) AS amounts
CROSS JOIN LATERAL (
    SELECT tasks.id, tasks.index, tasks.kind, tasks.frame_count, tasks.avoid_worker FROM tasks
    WHERE tasks.job_id = jobs.id AND tasks.status = 'pending' AND (tasks.not_before IS NULL OR tasks.not_before <= :now)
        AND (tasks.kind = 'render' OR amounts.open_frames = 0)
    ORDER BY tasks.index LIMIT :heads_max
) AS heads
WHERE jobs.status = 'processing' AND jobs.lease_token IS NULL
ORDER BY jobs.id, heads.index

-- lease_tasks --
-- Leases waiting tasks to workers, for exactly one scheduler each. The first lease of a job decides its renderer.
WITH wanted AS (
    SELECT * FROM unnest(CAST(:task_ids AS text[]), CAST(:job_ids AS text[]), CAST(:tokens AS text[]),
        CAST(:workers AS text[]), CAST(:renderers AS text[])) AS wanted(task_id, job_id, token, worker, renderer)
), pinned AS (
    UPDATE jobs SET renderer = pins.renderer
    FROM (SELECT DISTINCT ON (job_id) job_id, renderer FROM wanted ORDER BY job_id) AS pins
    WHERE jobs.id = pins.job_id AND jobs.status = 'processing' AND coalesce(jobs.renderer, pins.renderer) = pins.renderer
    RETURNING jobs.*
)
UPDATE tasks SET status = 'leased', attempt = tasks.attempt + 1, lease_token = wanted.token, worker = wanted.worker,
    lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds), not_before = NULL
FROM wanted JOIN pinned ON pinned.id = wanted.job_id JOIN templates ON templates.id = pinned.template_id
WHERE tasks.id = wanted.task_id AND tasks.status = 'pending'
RETURNING tasks.id AS task_id, tasks.lease_token, tasks.worker, tasks.kind, tasks.first_frame, tasks.frame_count,
    tasks.attempt, pinned.id AS job_id, pinned.width, pinned.height, pinned.fps, pinned.frame_count AS job_frame_count,
    pinned.document_key, pinned.media, pinned.plan_key, templates.composition_id, templates.duration_seconds

-- segments_of --
SELECT segment_key FROM tasks WHERE job_id = :job_id AND kind = 'render' ORDER BY index

-- renew_tasks --
-- Those of my tasks that are still mine, for longer; what is missing from the answer was withdrawn or given away.
UPDATE tasks SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
WHERE lease_token = ANY(:tokens) AND status = 'leased'
RETURNING lease_token

-- finish_tasks --
-- No row for a lease that is gone: its result is discarded.
UPDATE tasks SET status = 'done', lease_token = NULL, lease_expires_at = NULL, finished_at = :now,
    segment_key = ended.segment_key, report = CAST(ended.report AS jsonb)
FROM unnest(CAST(:tokens AS text[]), CAST(:segment_keys AS text[]), CAST(:reports AS text[]))
    AS ended(token, segment_key, report)
WHERE tasks.lease_token = ended.token AND tasks.status = 'leased'
RETURNING ended.token

-- leased_task --
SELECT tasks.id, tasks.job_id, tasks.kind, tasks.index AS task_index, tasks.failures, tasks.attempt, tasks.worker FROM tasks
WHERE tasks.lease_token = :token AND tasks.status = 'leased' FOR UPDATE

-- retry_task --
UPDATE tasks SET status = 'pending', lease_token = NULL, lease_expires_at = NULL, worker = NULL, failures = :failures,
    avoid_worker = :avoid_worker, error = :error, not_before = CAST(:now AS timestamptz) + make_interval(secs => :after_seconds)
WHERE lease_token = :token AND status = 'leased'
RETURNING id

-- fail_task --
UPDATE tasks SET status = 'failed', lease_token = NULL, lease_expires_at = NULL, finished_at = :now, error = :error
WHERE lease_token = :token AND status = 'leased'
RETURNING id

-- withdraw_tasks --
-- The job has ended: what is open of it is void, and reports about it are discarded.
UPDATE tasks SET status = 'withdrawn', lease_token = NULL, lease_expires_at = NULL, finished_at = :now
WHERE job_id = :job_id AND status IN ('pending', 'leased')

-- lose_segments --
-- Segments that are gone from storage are rendered again.
UPDATE tasks SET status = 'pending', segment_key = NULL, finished_at = NULL, report = NULL, worker = NULL
WHERE job_id = :job_id AND kind = 'render' AND status = 'done' AND segment_key = ANY(:segment_keys)
RETURNING id

-- rescue_tasks --
-- Tasks whose scheduler went away wait again; that is no fault of theirs.
WITH orphans AS (
    SELECT id FROM tasks WHERE status = 'leased' AND lease_expires_at < :now
    ORDER BY lease_expires_at LIMIT :tasks_max FOR UPDATE SKIP LOCKED
)
UPDATE tasks SET status = 'pending', lease_token = NULL, lease_expires_at = NULL, worker = NULL
FROM orphans WHERE tasks.id = orphans.id
RETURNING tasks.id, tasks.job_id, tasks.index AS task_index

-- count_open --
SELECT (SELECT count(*) FROM tasks WHERE status IN ('pending', 'leased') AND kind = 'render')
    + (SELECT count(*) FROM jobs WHERE status = 'queued')

-- hand_back_tasks --
-- A scheduler that stops lets its tasks wait again at once.
UPDATE tasks SET status = 'pending', lease_token = NULL, lease_expires_at = NULL, worker = NULL
WHERE lease_token = ANY(:tokens) AND status = 'leased'

-- unpin_jobs --
-- Jobs whose renderer no longer lives anywhere begin again on another: mixed segments would not fit together.
WITH stranded AS (
    UPDATE jobs SET renderer = NULL, plan_key = NULL
    WHERE status = 'processing' AND renderer IS NOT NULL AND NOT renderer = ANY(:renderers)
        AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.job_id = jobs.id AND tasks.status = 'leased')
    RETURNING id
)
UPDATE tasks SET status = 'pending', segment_key = NULL, finished_at = NULL, report = NULL, worker = NULL
FROM stranded WHERE tasks.job_id = stranded.id AND tasks.status = 'done'
RETURNING tasks.job_id

-- advance_jobs --
-- Progress moves forward only, and reaches 100 with completion alone.
UPDATE jobs SET progress = greatest(jobs.progress, least(99, 100.0 * (flight.frames + (
    SELECT coalesce(sum(tasks.frame_count), 0) FROM tasks
    WHERE tasks.job_id = jobs.id AND tasks.kind = 'render' AND tasks.status = 'done'
)) / jobs.frame_count))
FROM unnest(CAST(:job_ids AS text[]), CAST(:frames AS int[])) AS flight(job_id, frames)
WHERE jobs.id = flight.job_id AND jobs.status = 'processing'

-- see_workers --
INSERT INTO workers (id, node, renderer, device, encoder, memory_bytes, frames_done, failures, seen_at)
SELECT seen.*, 0, :now FROM unnest(CAST(:ids AS text[]), CAST(:nodes AS text[]), CAST(:renderers AS text[]),
    CAST(:devices AS text[]), CAST(:encoders AS text[]), CAST(:memories AS bigint[]), CAST(:frames AS bigint[])) AS seen
ON CONFLICT (id) DO UPDATE SET node = excluded.node, renderer = excluded.renderer, device = excluded.device,
    encoder = excluded.encoder, memory_bytes = excluded.memory_bytes, frames_done = excluded.frames_done, seen_at = excluded.seen_at

-- usable_workers --
-- How many tasks each of these workers holds; workers in quarantine are left out.
SELECT workers.id, count(tasks.id) AS load FROM workers
LEFT JOIN tasks ON tasks.worker = workers.id AND tasks.status = 'leased'
WHERE workers.id = ANY(:ids) AND (workers.quarantined_until IS NULL OR workers.quarantined_until <= :now)
GROUP BY workers.id

-- blame_worker --
-- One more failure in a row; from the third on the worker rests, longer each time, at most ten minutes.
UPDATE workers SET failures = failures + 1, quarantined_until = CASE WHEN failures + 1 >= :failures_max
    THEN CAST(:now AS timestamptz) + make_interval(secs => least(600, 15 * power(2, failures + 1 - :failures_max))) END
WHERE id = :id
RETURNING failures, quarantined_until

-- forgive_workers --
-- Several workers died of the job: it was the document. A worker that is alone with its failures may be what is broken.
UPDATE workers SET failures = 0, quarantined_until = NULL
FROM (
    SELECT array_agg(DISTINCT detail ->> 'worker') AS ids FROM job_events
    WHERE job_id = :job_id AND detail ->> 'kind' IN ('crash', 'stall')
) AS accused
WHERE cardinality(accused.ids) > 1 AND workers.id = ANY(accused.ids)

-- praise_workers --
UPDATE workers SET failures = 0 WHERE id = ANY(:ids) AND failures > 0

-- forget_workers --
DELETE FROM workers WHERE seen_at < :before

-- live_workers --
SELECT id FROM workers WHERE seen_at >= :since AND (quarantined_until IS NULL OR quarantined_until <= :now)

-- use_segments --
INSERT INTO segments (key, bytes, used_at)
SELECT DISTINCT ON (key) key, bytes, CAST(:now AS timestamptz)
FROM unnest(CAST(:keys AS text[]), CAST(:sizes AS bigint[])) AS used(key, bytes) ORDER BY key
ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at, bytes = excluded.bytes

-- surplus_segments --
-- The least recently used segments beyond the budget that no running job needs.
SELECT key FROM (
    SELECT key, sum(bytes) OVER (ORDER BY used_at DESC, key) AS newer_bytes FROM segments
) AS ordered
WHERE newer_bytes > :bytes_max AND NOT EXISTS (
    SELECT 1 FROM tasks JOIN jobs ON jobs.id = tasks.job_id
    WHERE tasks.segment_key = ordered.key AND jobs.status = 'processing'
) LIMIT :segments_max

-- forget_segments --
DELETE FROM segments WHERE key = ANY(:keys)

-- known_segments --
SELECT key FROM segments WHERE key = ANY(:keys)

-- claim_deliveries --
-- Webhooks that are due, each for one sender, and those that a sender began to post and did not live to tell of (`begun`).
-- The attempt is counted before it is made.
WITH due AS (
    SELECT id FROM deliveries
    WHERE status = 'due' AND due_at <= :now AND (lease_expires_at IS NULL OR lease_expires_at < :now)
    ORDER BY due_at LIMIT :deliveries_max FOR UPDATE SKIP LOCKED
)
UPDATE deliveries SET attempt = attempt + CASE WHEN attempts -> -1 @> '{"begun": true}' THEN 0 ELSE 1 END,
    lease_token = :token || '.' || deliveries.id,
    lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
FROM due WHERE deliveries.id = due.id
RETURNING deliveries.id, deliveries.job_id, deliveries.url, deliveries.body, deliveries.attempt, deliveries.lease_token,
    coalesce(attempts -> -1 @> '{"begun": true}', false) AS begun

-- begin_delivery_attempt --
-- The request is about to be sent: from here on a sender's death leaves open whether the receiver has it. Harmless twice.
UPDATE deliveries SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds),
    attempts = CASE WHEN attempts -> -1 @> '{"begun": true}' THEN attempts ELSE attempts || CAST(:record AS jsonb) END
WHERE lease_token = :token AND status = 'due'
RETURNING id

-- end_delivery_attempt --
-- The outcome takes the place of the entry that the attempt was begun with.
UPDATE deliveries SET status = CAST(:status AS text), due_at = CAST(:now AS timestamptz) + make_interval(secs => :after_seconds),
    lease_token = NULL, lease_expires_at = NULL,
    attempts = CASE WHEN attempts -> -1 @> '{"begun": true}' THEN attempts - -1 ELSE attempts END || CAST(:outcome AS jsonb),
    finished_at = CASE WHEN CAST(:status AS text) = 'due' THEN NULL ELSE CAST(:now AS timestamptz) END
WHERE lease_token = :token AND status = 'due'
RETURNING id

-- next_delivery --
SELECT min(greatest(due_at, coalesce(lease_expires_at, due_at))) FROM deliveries WHERE status = 'due'

-- repeat_delivery --
-- An operator has a webhook posted once more; its earlier attempts stay on record.
UPDATE deliveries SET status = 'due', attempt = 0, due_at = :now, finished_at = NULL
WHERE job_id = :job_id AND status IN ('delivered', 'dropped')

-- queue_by_account --
SELECT accounts.name, count(*) FILTER (WHERE jobs.status = 'queued') AS queued,
    min(jobs.created_at) FILTER (WHERE jobs.status = 'queued') AS oldest,
    count(*) FILTER (WHERE jobs.status = 'processing') AS processing,
    coalesce(sum(amounts.pending), 0) AS pending, coalesce(sum(amounts.leased), 0) AS leased
FROM jobs JOIN accounts ON accounts.id = jobs.account_id
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'leased') AS leased
    FROM tasks WHERE tasks.job_id = jobs.id AND tasks.kind = 'render'
) AS amounts ON jobs.status = 'processing'
WHERE jobs.status IN ('queued', 'processing')
GROUP BY accounts.name ORDER BY accounts.name

-- write_event --
INSERT INTO job_events (job_id, at, event, status, detail)
SELECT jobs.id, :now, :event, jobs.status, CAST(:detail AS jsonb) FROM jobs WHERE jobs.id = :job_id
