-- Named statements, loaded by name. Times are parameters, so that tests can control the clock.
--
-- Statements about several rows lock jobs before tasks before counts, each in order of key, so that schedulers and
-- cancels cannot deadlock. Locks are NO KEY, so that a row's history can be written meanwhile; only rows that are
-- deleted are locked FOR UPDATE.
--
-- A lease token ends with the id of its job or task, after the first dot: a lease is looked up by that id, and needs no
-- index of tokens. For tasks, the condition on the status is hidden in coalesce: with statistics from an idle hour, the
-- planner expects no running tasks, and would read all of them by the index of workers. Several leases are looked up one
-- by one, because the planner reads all of a small table for a join. Their tokens are compared outside: the planner then
-- expects few rows, and updates them by their index.

-- claim_jobs --
-- Claim the next queued jobs, each for one scheduler only, with everything that ingest and planning need. Accounts take
-- turns by their jobs in processing, divided by the weight of their priority. Within an account, jobs are ordered by
-- place (`WaitingJob` in `queue_models.py`): short jobs overtake, and long ones do not starve, because a place never
-- changes.
-- The cost does not depend on the depth of the queue or the number of accounts, because `account_queues` has the next
-- turn of each account. An account behind `candidates` others cannot have one of the next jobs. Nor can a job whose
-- turn is later than the last of those accounts' next turns. There are more candidates than wanted jobs, because other
-- schedulers can lock some.
-- The row of an account names its first job; its queue is read only if it can get more than one. A locked job is
-- updated by its ctid. The parameter of LIMIT is hidden in a subquery: otherwise Postgres makes a new plan for each
-- value.
-- Templates are looked up one by one, because the planner would read a few thousand instead. A job gets the version that
-- its template had when the job was created.
-- Accounts that store more than `stored_max` bytes wait, and so do the accounts `without`.
-- For few accounts with long queues, `bounds` limits the number of rows read of each. It is the first turn, in doubling
-- steps, with enough jobs. It is not computed if all turns are close together.
WITH candidates AS MATERIALIZED (
    SELECT account_id, processing, queued, power(2, priority) AS weight, turn, stored_bytes, next_job_id, next_created_at FROM account_queues
    WHERE next_job_id IS NOT NULL AND NOT held AND coalesce(processing < :account_jobs_max, false)
        AND stored_bytes <= :stored_max AND coalesce(array_position(CAST(:without AS text[]), CAST(account_id AS text)) IS NULL, true) AND NOT EXISTS (SELECT 1 FROM queue_state WHERE paused_at IS NOT NULL)
    ORDER BY turn, next_created_at, next_job_id LIMIT :candidates
), bounds AS MATERIALIZED (
    SELECT CASE WHEN count(*) = :candidates AND max(turn) <= min(turn) + 1 THEN max(turn)
        ELSE least(CASE WHEN count(*) < :candidates THEN 'infinity' ELSE max(turn) END, (
            SELECT min(enough.turn) FROM (
                SELECT first.turn + power(2, step) AS turn FROM (SELECT min(turn) AS turn FROM candidates) AS first, generate_series(-4, 16) AS step
            ) AS enough
            WHERE (SELECT sum(least(queued, :account_jobs_max - processing, greatest(0, floor(enough.turn * weight) - processing))) FROM candidates) >= :candidates
        )) END AS last_turn FROM candidates
), fair AS MATERIALIZED (
    SELECT id FROM (
        SELECT next_job_id AS id, next_created_at AS created_at, (processing + 1) / weight AS turn FROM candidates
        UNION ALL
        SELECT later.* FROM candidates CROSS JOIN bounds CROSS JOIN LATERAL (
            SELECT least(:candidates, :account_jobs_max - candidates.processing,
                bounds.last_turn * candidates.weight - candidates.processing) AS jobs OFFSET 0
        ) AS wanted CROSS JOIN LATERAL (
            SELECT job_id, created_at, (candidates.processing + row_number() OVER (ORDER BY place, job_id)) / candidates.weight AS turn
            FROM waiting_jobs WHERE waiting_jobs.account_id = candidates.account_id
            ORDER BY place, job_id OFFSET 1 LIMIT wanted.jobs - 1
        ) AS later WHERE wanted.jobs > 1
    ) AS waiting
    ORDER BY turn, created_at, id
), best AS (
    SELECT locked.* FROM fair CROSS JOIN LATERAL (
        SELECT jobs.id, jobs.ctid AS version FROM jobs WHERE jobs.id = fair.id AND jobs.status = 'queued' FOR NO KEY UPDATE SKIP LOCKED
    ) AS locked LIMIT (SELECT CAST(:jobs_max AS bigint))
), claimed AS (
    UPDATE jobs SET status = 'processing', started_at = :now, attempt = attempt + 1, lease_token = :token || '.' || jobs.id,
        lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
    FROM best WHERE jobs.ctid = best.version
    RETURNING jobs.*
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status) SELECT id, :now, 'claim', 'processing' FROM claimed
)
SELECT claimed.id, claimed.lease_token, claimed.attempt, claimed.failures, claimed.account_id, claimed.origin, claimed.inputs, claimed.width,
    claimed.height, claimed.fps, claimed.frame_count, claimed.document_key, claimed.media, claimed.template_id,
    claimed.format, claimed.transparent, claimed.has_sound, claimed.request_id, claimed.traceparent, templates.document_key AS template_document_key, templates.inputs AS template_inputs, templates.targets AS template_targets,
    templates.composition_id, templates.duration_seconds, templates.version <> claimed.template_version AS version_is_gone, owner.plan, owner.max_storage_bytes, owner.unlimited, candidates.stored_bytes
FROM claimed CROSS JOIN LATERAL (
    SELECT 1 AS is_newest, version, document_key, inputs, targets, composition_id, duration_seconds FROM templates WHERE id = claimed.template_id
    UNION ALL
    SELECT 0, version, document_key, inputs, targets, composition_id, duration_seconds FROM template_versions
    WHERE template_id = claimed.template_id AND version = claimed.template_version
    ORDER BY is_newest LIMIT 1
) AS templates
CROSS JOIN LATERAL (SELECT * FROM accounts WHERE accounts.id = claimed.account_id LIMIT 1) AS owner
JOIN candidates ON candidates.account_id = claimed.account_id

-- adopt_jobs --
-- Take over jobs whose scheduler died before it planned them, or handed them back. A continued attempt has only one
-- event.
WITH orphans AS (
    SELECT jobs.id FROM (SELECT job_id, lease_expires_at FROM held_jobs WHERE lease_expires_at < :now ORDER BY lease_expires_at) AS held
    CROSS JOIN LATERAL (
        SELECT id FROM jobs WHERE jobs.id = held.job_id AND jobs.status = 'processing' AND jobs.lease_expires_at < :now
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS jobs LIMIT (SELECT CAST(:jobs_max AS bigint))
), adopted AS (
    UPDATE jobs SET attempt = attempt + 1, lease_token = :token || '.' || jobs.id,
        lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
    FROM orphans WHERE jobs.id = orphans.id
    RETURNING jobs.*
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT id, :now, 'adopt', status, jsonb_build_object('attempt', attempt, 'failures', failures) FROM adopted WHERE NOT EXISTS (
        SELECT 1 FROM job_events WHERE job_id = adopted.id AND event = 'adopt' AND detail = jsonb_build_object('attempt', adopted.attempt, 'failures', adopted.failures)
    )
)
SELECT adopted.id, adopted.lease_token, adopted.attempt, adopted.failures, adopted.account_id, adopted.origin, adopted.inputs, adopted.width,
    adopted.height, adopted.fps, adopted.frame_count, adopted.document_key, adopted.media, adopted.template_id,
    adopted.format, adopted.transparent, adopted.has_sound, adopted.request_id, adopted.traceparent, templates.document_key AS template_document_key, templates.inputs AS template_inputs, templates.targets AS template_targets,
    templates.composition_id, templates.duration_seconds, templates.version <> adopted.template_version AS version_is_gone, owner.plan, owner.max_storage_bytes, owner.unlimited, queue.stored_bytes
FROM adopted CROSS JOIN LATERAL (
    SELECT 1 AS is_newest, version, document_key, inputs, targets, composition_id, duration_seconds FROM templates WHERE id = adopted.template_id
    UNION ALL
    SELECT 0, version, document_key, inputs, targets, composition_id, duration_seconds FROM template_versions
    WHERE template_id = adopted.template_id AND version = adopted.template_version
    ORDER BY is_newest LIMIT 1
) AS templates
CROSS JOIN LATERAL (SELECT * FROM accounts WHERE accounts.id = adopted.account_id LIMIT 1) AS owner
CROSS JOIN LATERAL (SELECT stored_bytes FROM account_queues WHERE account_queues.account_id = adopted.account_id LIMIT 1) AS queue

-- renew_jobs --
-- Renew the leases of this scheduler's jobs that are still valid.
WITH held AS (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT substr(token, strpos(token, '.') + 1) FROM unnest(CAST(:tokens AS text[])) AS token))
        AND lease_token = ANY(:tokens) AND status = 'processing' ORDER BY id FOR NO KEY UPDATE
)
UPDATE jobs SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
FROM held WHERE jobs.id = held.id AND jobs.lease_token = ANY(:tokens)
RETURNING jobs.lease_token

-- release_jobs --
-- Hand back unplanned jobs, so that any scheduler can adopt them at once. Only an attempt whose scheduler died stays
-- counted.
WITH held AS (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT substr(token, strpos(token, '.') + 1) FROM unnest(CAST(:tokens AS text[])) AS token))
        AND lease_token = ANY(:tokens) AND status = 'processing' ORDER BY id FOR NO KEY UPDATE
)
UPDATE jobs SET lease_expires_at = CAST(:now AS timestamptz) - interval '1 second', attempt = attempt - 1, failures = failures + :failed
FROM held WHERE jobs.id = held.id AND jobs.lease_token = ANY(:tokens)

-- plan_jobs --
-- Record the results of ingest: frozen documents, their media, and what they count against the account's month and
-- storage.
-- From here on the job's tasks have leases, and the job needs no scheduler. Jobs without `segments` already have a
-- video; their scheduler keeps the lease and ends them. A job without a row in the result was no longer leased.
-- The rows of usage and then of account_queues are locked before object_charges change.
-- Jobs are locked one by one, with everything that is written to them: for each relation that an update or a lock joins,
-- Postgres copies a whole row.
WITH held AS MATERIALIZED (
    SELECT jobs.id, jobs.account_id, jobs.fresh, wanted.* FROM (
        SELECT * FROM unnest(CAST(:job_ids AS text[]), CAST(:tokens AS text[]), CAST(:document_keys AS text[]), CAST(:media AS text[]),
            CAST(:ingest_bytes AS bigint[]), CAST(:warnings AS text[]), CAST(:plan_keys AS text[]), CAST(:renderers AS text[]),
            CAST(:segments AS int[]), CAST(:composition_ids AS text[]), CAST(:composition_seconds AS float8[]))
            AS wanted(job_id, token, document_key, media, ingest_bytes, warnings, plan_key, renderer, segments, composition_id, composition_seconds)
        ORDER BY job_id
    ) AS wanted CROSS JOIN LATERAL (
        SELECT id, account_id, lease_token, document_key IS NULL AS fresh FROM jobs
        WHERE jobs.id = wanted.job_id AND jobs.status = 'processing' FOR NO KEY UPDATE
    ) AS jobs WHERE jobs.lease_token = wanted.token
), planned AS (
    UPDATE jobs SET
        document_key = CASE WHEN held.fresh THEN held.document_key ELSE jobs.document_key END,
        media = CASE WHEN held.fresh THEN CAST(held.media AS jsonb) ELSE jobs.media END,
        ingest_bytes = CASE WHEN held.fresh THEN held.ingest_bytes ELSE jobs.ingest_bytes END,
        warnings = CASE WHEN held.fresh THEN CAST(held.warnings AS jsonb) ELSE jobs.warnings END,
        composition_id = CASE WHEN held.fresh THEN held.composition_id ELSE jobs.composition_id END,
        composition_seconds = CASE WHEN held.fresh THEN held.composition_seconds ELSE jobs.composition_seconds END,
        plan_key = CASE WHEN held.segments IS NULL THEN jobs.plan_key ELSE held.plan_key END,
        renderer = CASE WHEN held.segments IS NULL THEN jobs.renderer ELSE held.renderer END,
        lease_token = CASE WHEN held.segments IS NULL THEN jobs.lease_token END,
        lease_expires_at = CASE WHEN held.segments IS NULL THEN jobs.lease_expires_at END
    FROM held WHERE jobs.id = held.id
    RETURNING jobs.id, held.segments
), cut AS (
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT planned.id || '.' || task.index, planned.id, task.index, task.kind, task.first_frame, task.frame_count,
        'pending', 0, :now
    FROM planned JOIN unnest(CAST(:task_job_ids AS text[]), CAST(:indexes AS int[]), CAST(:kinds AS text[]),
        CAST(:first_frames AS int[]), CAST(:frame_counts AS int[])) AS task(job_id, index, kind, first_frame, frame_count)
        ON task.job_id = planned.id
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT id, :now, 'plan', 'processing', jsonb_build_object('segments', segments) FROM planned WHERE segments IS NOT NULL
), counted AS (
    INSERT INTO usage (account_id, period, asset_bytes)
    SELECT held.account_id, :period, sum(held.ingest_bytes) FROM held
    WHERE held.fresh AND held.ingest_bytes > 0 GROUP BY held.account_id ORDER BY held.account_id
    ON CONFLICT (account_id, period) DO UPDATE SET asset_bytes = usage.asset_bytes + excluded.asset_bytes
    RETURNING account_id
), queues AS (
    SELECT account_id FROM account_queues
    WHERE account_id = ANY(ARRAY(SELECT account_id FROM held)) AND (SELECT count(*) FROM counted) IS NOT NULL
    ORDER BY account_id FOR NO KEY UPDATE
), charged AS (
    INSERT INTO object_charges (account_id, key, bytes)
    SELECT held.account_id, object.key, object.bytes
    FROM unnest(CAST(:object_job_ids AS text[]), CAST(:object_keys AS text[]), CAST(:object_bytes AS bigint[]))
        AS object(job_id, key, bytes) JOIN held ON held.id = object.job_id JOIN queues ON queues.account_id = held.account_id
    ORDER BY held.account_id, object.key
    ON CONFLICT (account_id, key) DO NOTHING
)
SELECT id, CASE WHEN segments IS NOT NULL THEN pg_notify('tasks', '') END FROM planned

-- share_objects --
-- The lock of `shared_objects.py`, shared and exclusive, until the session releases it.
SELECT pg_advisory_lock_shared(CAST(:lock AS bigint))

-- stop_sharing_objects --
SELECT pg_advisory_unlock_shared(CAST(:lock AS bigint))

-- hold_objects --
SELECT pg_advisory_lock(CAST(:lock AS bigint))

-- stop_holding_objects --
SELECT pg_advisory_unlock(CAST(:lock AS bigint))

-- same_results --
-- Find existing videos that depend on exactly the same things. One array is hidden in a subquery: for fewer than ten jobs, Postgres
-- would make a new plan at each use, which takes longer than the statement.
SELECT wanted.job_id, same.video_key, same.receipt_key, same.warnings, (
    SELECT bytes FROM object_charges WHERE object_charges.account_id = wanted.account_id AND object_charges.key = same.video_key
) AS bytes
FROM unnest((SELECT CAST(:job_ids AS text[])), CAST(:account_ids AS text[]), CAST(:plan_keys AS text[])) AS wanted(job_id, account_id, plan_key)
CROSS JOIN LATERAL (
    SELECT video_key, receipt_key, warnings FROM jobs
    WHERE jobs.account_id = wanted.account_id AND jobs.plan_key = wanted.plan_key AND jobs.video_key IS NOT NULL
    ORDER BY finished_at DESC LIMIT 1
) AS same

-- end_jobs --
-- End jobs, each only if its state and the given tokens allow it, with everything that belongs to its end: the assembly
-- is done, the webhook is due, the account's month is charged. A job without a row in the result was ended by another
-- process. Each detail is parsed once. Jobs are locked as in `plan_jobs`.
WITH held AS MATERIALIZED (
    SELECT wanted.* FROM (
        SELECT job_id, lease_token, task_token, error, video_key, receipt_key, video_url, plan_key, renderer, CAST(detail AS jsonb) AS detail,
            delivery_id, warnings, percent, video_bytes
        FROM unnest(CAST(:job_ids AS text[]), CAST(:lease_tokens AS text[]), CAST(:task_tokens AS text[]),
            CAST(:errors AS text[]), CAST(:video_keys AS text[]), CAST(:receipt_keys AS text[]), CAST(:video_urls AS text[]),
            CAST(:plan_keys AS text[]), CAST(:renderers AS text[]), CAST(:details AS text[]), CAST(:delivery_ids AS text[]),
            CAST(:warnings AS text[]), CAST(:percents AS float8[]), CAST(:video_bytes AS bigint[]))
            AS wanted(job_id, lease_token, task_token, error, video_key, receipt_key, video_url, plan_key, renderer, detail, delivery_id,
                warnings, percent, video_bytes)
        ORDER BY job_id
    ) AS wanted CROSS JOIN LATERAL (
        SELECT lease_token FROM jobs WHERE jobs.id = wanted.job_id AND jobs.status = ANY(:sources) FOR NO KEY UPDATE
    ) AS jobs WHERE wanted.lease_token IS NULL OR wanted.lease_token = jobs.lease_token
), leased AS MATERIALIZED (
    SELECT tasks.id, assembled.detail FROM (
        SELECT job_id, task_token, detail FROM held WHERE task_token IS NOT NULL ORDER BY substr(task_token, strpos(task_token, '.') + 1)
    ) AS assembled CROSS JOIN LATERAL (
        SELECT id, lease_token FROM tasks
        WHERE tasks.id = substr(assembled.task_token, strpos(assembled.task_token, '.') + 1) AND tasks.job_id = assembled.job_id
            AND coalesce(tasks.status = 'leased', false) FOR NO KEY UPDATE
    ) AS tasks WHERE tasks.lease_token = assembled.task_token
), joined AS (
    UPDATE tasks SET status = 'done', lease_token = NULL, lease_expires_at = NULL, finished_at = :now,
        report = leased.detail
    FROM leased WHERE tasks.id = leased.id
    RETURNING tasks.job_id
), ended AS (
    UPDATE jobs SET status = CAST(:after AS text), finished_at = :now, lease_token = NULL, lease_expires_at = NULL, error = held.error,
        video_key = held.video_key, receipt_key = held.receipt_key,
        plan_key = coalesce(held.plan_key, jobs.plan_key), renderer = coalesce(held.renderer, jobs.renderer),
        progress = CASE WHEN CAST(:after AS text) = 'completed' THEN 100 ELSE greatest(jobs.progress, held.percent, least(99, 100.0 * (
            SELECT coalesce(sum(done.frame_count), 0) FROM tasks AS done
            WHERE done.job_id = jobs.id AND done.kind = 'render' AND done.status = 'done'
        ) / jobs.frame_count)) END,
        warnings = CASE WHEN CAST(:after AS text) = 'completed' THEN coalesce(CAST(held.warnings AS jsonb), (
            SELECT jsonb_agg(noticed.one ORDER BY noticed.one) FROM (
                SELECT jsonb_array_elements(CASE WHEN jsonb_typeof(jobs.warnings) = 'array' THEN jobs.warnings ELSE '[]' END) AS one
                UNION SELECT jsonb_array_elements(CASE WHEN jsonb_typeof(drawn.report -> 'warnings') = 'array'
                    THEN drawn.report -> 'warnings' ELSE '[]' END) FROM tasks AS drawn
                WHERE drawn.job_id = jobs.id AND drawn.kind = 'render'
                UNION SELECT jsonb_array_elements(CASE WHEN jsonb_typeof(held.detail -> 'warnings') = 'array'
                    THEN held.detail -> 'warnings' ELSE '[]' END) LIMIT 200) AS noticed)) ELSE jobs.warnings END,
        render_duration_ms = CASE WHEN CAST(:after AS text) = 'completed' THEN greatest(0, round(1000 * extract(
            epoch FROM CAST(:now AS timestamptz) - coalesce(jobs.started_at, jobs.created_at)))) END
    FROM held LEFT JOIN joined ON joined.job_id = held.job_id
    WHERE jobs.id = held.job_id AND (held.task_token IS NULL OR joined.job_id IS NOT NULL)
    RETURNING jobs.id, jobs.account_id, jobs.status, jobs.error, jobs.callback_url, jobs.reserved_ms, jobs.render_duration_ms, jobs.created_at,
        jobs.video_key, held.video_url, held.detail, held.delivery_id, held.video_bytes
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT id, :now, CAST(:event AS text), status, detail FROM ended
), posted AS (
    INSERT INTO deliveries (id, job_id, account_id, url, body, status, attempt, due_at, attempts, created_at)
    SELECT delivery_id, id, account_id, callback_url, jsonb_build_object('jobId', id, 'status', status, 'videoUrl', video_url,
        'error', error, 'renderDurationMs', render_duration_ms), 'due', 0,
        greatest(CAST(:now AS timestamptz), least(CAST(:now AS timestamptz), created_at) + make_interval(secs => :webhook_seconds)), '[]', :now
    FROM ended WHERE callback_url IS NOT NULL
), settled AS (
    INSERT INTO usage (account_id, period, rendered_ms, render_duration_ms)
    SELECT account_id, :period, sum(reserved_ms), sum(render_duration_ms) FROM ended
    WHERE status = 'completed' GROUP BY account_id ORDER BY account_id
    ON CONFLICT (account_id, period) DO UPDATE SET rendered_ms = usage.rendered_ms + excluded.rendered_ms,
        render_duration_ms = usage.render_duration_ms + excluded.render_duration_ms
), charged AS (
    INSERT INTO object_charges (account_id, key, bytes)
    SELECT account_id, video_key, video_bytes FROM ended WHERE status = 'completed' AND video_bytes IS NOT NULL
    ORDER BY account_id, video_key
    ON CONFLICT (account_id, key) DO NOTHING
)
SELECT id, CASE WHEN callback_url IS NOT NULL THEN pg_notify('deliveries', '') END FROM ended

-- open_work --
-- Return the next jobs, with their work in flight and their first waiting tasks: the most urgent jobs of the accounts
-- with the lowest load. An account behind `heads_max` others cannot get one of the next tasks. The assembly waits for
-- all segments. The cost does not depend on the number of jobs in processing, because `open_jobs` and `account_queues`
-- know which are ready.
-- Accounts are read in order until there are two tasks for each place. `depth` is the number of tasks per account: at
-- least `depth_least`, and more if there are fewer accounts than places.
-- Rows come in the order of their indexes, without a sort, which would read one more job of each account. For this, the
-- lists after ORDER BY stop where the order within an account or a job begins. If Postgres sorts all the same, rows of
-- one account can be mixed, and tasks of one job can change places. A job is looked up only if `open_jobs` does not
-- know its renderer.
-- Conditions with parameters are hidden in coalesce. Otherwise their values change the estimated number of rows, and
-- Postgres makes a new plan at each use, which takes as long as the statement.
-- The planner expects half of the tasks to meet a condition in coalesce, and nearly all to meet one with IS NOT
-- UNKNOWN. With the first estimate it expected one task per job, and read and sorted all of a job's tasks instead of
-- using their index.
-- `resting` accounts are left out. With `are_named`, only accounts that are `named`, or are not, are read.
-- That condition has the same form: with coalesce alone, the statement was planned at each use and took twice the processor time.
-- A pause is always shorter than a minute: a task with a later end of its pause is from before the clock was set back.
WITH depth AS MATERIALIZED (
    SELECT greatest(CAST(:depth_least AS bigint), (2 * :heads_max + count(*) - 1) / greatest(1, count(*))) AS tasks FROM (
        SELECT 1 FROM account_queues WHERE ready_place IS NOT NULL AND NOT held ORDER BY load, ready_place, account_id LIMIT :heads_max
    ) AS places
)
SELECT heads.id AS job_id, ready.account_id, heads.place AS job_place, heads.renderer, heads.leased_frames, heads.task_id, heads.kind, heads.frame_count,
    heads.avoid_worker, ready.leased_frames AS account_frames, ready.priority AS account_priority, depth.tasks AS depth
FROM account_queues AS ready CROSS JOIN depth CROSS JOIN LATERAL (
    SELECT open_jobs.job_id AS id, open_jobs.ready_place AS place, known.renderer, open_jobs.leased_frames, waiting.*
    FROM open_jobs CROSS JOIN LATERAL (
        SELECT coalesce(open_jobs.renderer, (SELECT jobs.renderer FROM jobs WHERE jobs.id = open_jobs.job_id)) AS renderer
    ) AS known CROSS JOIN LATERAL (
        SELECT tasks.id AS task_id, tasks.kind, tasks.frame_count, tasks.avoid_worker FROM tasks
        WHERE tasks.job_id = open_jobs.job_id AND tasks.status = 'pending'
            AND nullif(coalesce(tasks.not_before <= :now OR tasks.not_before > CAST(:now AS timestamptz) + interval '1 minute', true), false)
                IS NOT UNKNOWN
            AND (tasks.kind = 'render' OR open_jobs.open_frames = 0)
        ORDER BY tasks.index LIMIT depth.tasks
    ) AS waiting
    WHERE open_jobs.account_id = ready.account_id AND open_jobs.ready_place IS NOT NULL
        AND coalesce(array_position(CAST(:renderers AS text[]), CAST(known.renderer AS text)) > 0,
            known.renderer IS NULL OR CAST(:renderers AS text[]) IS NULL)
    ORDER BY open_jobs.ready_place, open_jobs.job_id LIMIT depth.tasks
) AS heads
WHERE ready.ready_place IS NOT NULL AND NOT ready.held AND NOT EXISTS (SELECT 1 FROM queue_state WHERE paused_at IS NOT NULL)
    AND nullif(coalesce(array_position(CAST(:resting AS text[]), CAST(ready.account_id AS text)) IS NULL
        AND coalesce((array_position(CAST(:named AS text[]), CAST(ready.account_id AS text)) IS NOT NULL)
            = CAST(:are_named AS boolean), true), true), false)
        IS NOT UNKNOWN
ORDER BY ready.load, ready.ready_place, ready.account_id LIMIT 2 * :heads_max

-- take_turn --
-- The lock of `round_turns.py`, until the session releases it. A longer wait is an error.
WITH patience AS MATERIALIZED (
    SELECT set_config('lock_timeout', CAST(CAST(:wait_ms AS int) AS text), true)
)
SELECT pg_advisory_lock(CAST(:lock AS bigint)) FROM patience

-- end_turn --
SELECT pg_advisory_unlock(CAST(:lock AS bigint))

-- pin_jobs --
-- Set the renderer of a job at its first lease. Skip jobs that another scheduler has locked. The commit does not wait
-- for the disk, like that of the lease.
WITH quickly AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), wanted AS MATERIALIZED (
    SELECT DISTINCT ON (wanted.job_id) wanted.* FROM quickly CROSS JOIN unnest(CAST(:job_ids AS text[]), CAST(:renderers AS text[]))
        AS wanted(job_id, renderer) ORDER BY wanted.job_id
), held AS MATERIALIZED (
    SELECT jobs.id, wanted.renderer FROM wanted JOIN jobs ON jobs.id = wanted.job_id
    WHERE jobs.status = 'processing' AND jobs.renderer IS NULL ORDER BY jobs.id FOR NO KEY UPDATE OF jobs SKIP LOCKED
)
UPDATE jobs SET renderer = held.renderer FROM held WHERE jobs.id = held.id

-- lease_tasks --
-- Lease waiting tasks to workers, each for one scheduler only, with everything that their assignments need. A job
-- without a renderer was pinned to one before. No job is locked: if one ends meanwhile, `withdraw_tasks` waits for the
-- leases and voids them, and `stop_leases` prevents leases of a job whose renderer is removed. Tasks that another
-- scheduler has locked are skipped.
-- Sums are looked up row by row, whatever the statistics are. Jobs are joined as a table, because Postgres copies whole
-- rows of a subquery. Templates are looked up only for jobs that a release before migration 0020 froze.
-- The segments of an assembly are joined as text, because json_build_object looks up types for each of them. The text is not cast
-- to json, because Postgres would parse it once more. A segment has at least one frame, so LIMIT leaves none out: with it,
-- the planner reads them in the order of their index, whatever the statistics are, instead of sorting them.
-- The commit does not wait for the disk. A crash of Postgres can lose the last leases: these tasks wait again, and
-- results with the lost tokens do not count. Any later commit that waits for the disk also makes these leases durable.
WITH quickly AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), wanted AS (
    SELECT wanted.* FROM quickly CROSS JOIN unnest(CAST(:task_ids AS text[]), CAST(:job_ids AS text[]), CAST(:tokens AS text[]),
        CAST(:workers AS text[]), CAST(:renderers AS text[])) AS wanted(task_id, job_id, token, worker, renderer)
), waiting AS MATERIALIZED (
    SELECT wanted.*, tasks.ctid AS version FROM wanted JOIN tasks ON tasks.id = wanted.task_id
    WHERE tasks.status = 'pending' FOR NO KEY UPDATE OF tasks SKIP LOCKED
)
UPDATE tasks SET status = 'leased', attempt = tasks.attempt + 1, lease_token = waiting.token, worker = waiting.worker,
    lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds), not_before = NULL
FROM waiting JOIN jobs AS held ON held.id = waiting.job_id AND held.status = 'processing' AND held.renderer = waiting.renderer
CROSS JOIN LATERAL (
    SELECT held.frame_count - open_jobs.open_frames AS frames, open_jobs.spent_seconds AS seconds
    FROM open_jobs WHERE open_jobs.job_id = held.id LIMIT 1
) AS spent
WHERE tasks.ctid = waiting.version AND tasks.status = 'pending'
RETURNING tasks.id AS task_id, tasks.lease_token, tasks.worker, tasks.kind, tasks.first_frame, tasks.frame_count,
    tasks.index AS task_index, held.id AS job_id, held.account_id,
    spent.frames AS finished_frames, spent.seconds AS spent_seconds, held.width, held.height, held.fps, held.frame_count AS job_frame_count,
    held.document_key, held.media, held.format, held.transparent, held.has_sound, held.plan_key,
    CASE WHEN held.callback_url IS NOT NULL THEN held.origin END AS webhook_origin,
    CASE WHEN tasks.kind = 'assemble' THEN held.inputs END AS inputs, held.renderer, held.request_id, held.traceparent,
    CASE WHEN held.composition_seconds IS NOT NULL THEN held.composition_id
        ELSE (SELECT composition_id FROM templates WHERE templates.id = held.template_id) END AS composition_id,
    coalesce(held.composition_seconds, (SELECT duration_seconds FROM templates WHERE templates.id = held.template_id)) AS duration_seconds,
    CASE
        WHEN tasks.kind = 'assemble' THEN (
            SELECT '[' || string_agg('{"firstFrame":' || done.first_frame || ',"frames":' || done.frame_count
                || ',"key":' || coalesce(CAST(to_json(done.segment_key) AS text), 'null')
                || ',"cached":' || coalesce(done.report ->> 'cached', 'false')
                || coalesce(',"sha256":' || CAST(to_json(nullif(done.report ->> 'sha256', '')) AS text), '')
                || ',"stagesMs":' || coalesce(done.report ->> 'stages_ms', '{}') || '}', ',') || ']'
            FROM (
                SELECT first_frame, frame_count, segment_key, report FROM tasks
                WHERE tasks.job_id = held.id AND tasks.kind = 'render' ORDER BY tasks.index LIMIT held.frame_count
            ) AS done
        )
    END AS segments

-- renew_tasks --
-- Renew the leases of this scheduler's tasks that are still valid; the other tasks were withdrawn or leased again. A
-- recent lease is not written again. The commit does not wait for the disk: losing a renewal is harmless, like missing
-- one.
WITH quickly AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), mine AS (
    SELECT leased.* FROM quickly CROSS JOIN unnest(CAST(:tokens AS text[])) AS token JOIN LATERAL (
        SELECT id, lease_token, lease_expires_at FROM tasks
        WHERE id = substr(token, strpos(token, '.') + 1) AND coalesce(status = 'leased', false) LIMIT 1
    ) AS leased ON leased.lease_token = token
), held AS (
    SELECT tasks.id FROM tasks JOIN mine ON mine.id = tasks.id AND mine.lease_token = tasks.lease_token
    WHERE mine.lease_expires_at < CAST(:now AS timestamptz) + make_interval(secs => :fresh_seconds)
        AND coalesce(tasks.status = 'leased', false)
    ORDER BY tasks.id FOR NO KEY UPDATE OF tasks
), renewed AS (
    UPDATE tasks SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
    FROM held WHERE tasks.id = held.id
)
SELECT lease_token FROM mine

-- finish_tasks --
-- Accept rendered segments, add them to the cache, and reset the failures of their workers. A task without a row in the
-- result had lost its lease: its result is discarded, although the segment stays in storage. The tokens are hidden in a
-- subquery as in `same_results`. Each report is parsed once. Only a cached segment is looked up, for its warnings.
WITH ended AS MATERIALIZED (
    SELECT token, segment_key, bytes, CAST(report AS jsonb) AS report
    FROM unnest((SELECT CAST(:tokens AS text[])), CAST(:segment_keys AS text[]), CAST(:sizes AS bigint[]), CAST(:reports AS text[]))
        AS ended(token, segment_key, bytes, report)
), held AS MATERIALIZED (
    SELECT leased.id, ended.* FROM (SELECT * FROM ended ORDER BY substr(token, strpos(token, '.') + 1)) AS ended JOIN LATERAL (
        SELECT id, lease_token FROM tasks
        WHERE id = substr(ended.token, strpos(ended.token, '.') + 1) AND coalesce(status = 'leased', false) FOR NO KEY UPDATE
    ) AS leased ON leased.lease_token = ended.token
), finished AS (
    UPDATE tasks SET status = 'done', lease_token = NULL, lease_expires_at = NULL, finished_at = :now,
        segment_key = held.segment_key, report = CASE WHEN CAST(held.report -> 'cached' AS boolean)
            THEN held.report || jsonb_build_object('warnings', coalesce((SELECT warnings FROM segments WHERE key = held.segment_key), '[]'))
            ELSE held.report END
    FROM held WHERE tasks.id = held.id
    RETURNING held.token
), used AS (
    INSERT INTO segments (key, bytes, used_at, warnings)
    SELECT DISTINCT ON (segment_key) segment_key, bytes, CAST(:now AS timestamptz), nullif(report -> 'warnings', '[]')
    FROM ended ORDER BY segment_key, CAST(report -> 'cached' AS boolean)
    ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at, bytes = excluded.bytes,
        warnings = coalesce(excluded.warnings, segments.warnings)
), praised AS (
    UPDATE workers SET failures = 0 WHERE id = ANY(:workers) AND failures > 0
)
SELECT token FROM finished

-- leased_task --
-- Return a leased task. All open tasks of its job are locked, because the job can fail with it, and rows of
-- account_queues are locked after tasks.
WITH held AS (
    SELECT jobs.id FROM jobs JOIN tasks ON tasks.job_id = jobs.id
    WHERE tasks.id = substr(CAST(:token AS text), strpos(CAST(:token AS text), '.') + 1) AND tasks.lease_token = :token
        AND coalesce(tasks.status = 'leased', false) FOR NO KEY UPDATE OF jobs
), open AS MATERIALIZED (
    SELECT tasks.id FROM tasks JOIN held ON held.id = tasks.job_id
    WHERE tasks.status IN ('pending', 'leased') ORDER BY tasks.id FOR NO KEY UPDATE OF tasks
)
SELECT tasks.id, tasks.job_id, tasks.kind, tasks.index AS task_index, tasks.failures, tasks.attempt, tasks.worker, tasks.error
FROM tasks JOIN open ON open.id = tasks.id
WHERE tasks.lease_token = :token AND coalesce(tasks.status = 'leased', false) FOR NO KEY UPDATE OF tasks

-- retry_task --
UPDATE tasks SET status = 'pending', lease_token = NULL, lease_expires_at = NULL, worker = NULL, failures = :failures,
    avoid_worker = :avoid_worker, error = :error, not_before = CAST(:now AS timestamptz) + make_interval(secs => :after_seconds)
WHERE id = substr(CAST(:token AS text), strpos(CAST(:token AS text), '.') + 1) AND lease_token = :token
    AND coalesce(status = 'leased', false)
RETURNING id

-- fail_task --
UPDATE tasks SET status = 'failed', lease_token = NULL, lease_expires_at = NULL, finished_at = :now, error = :error
WHERE id = substr(CAST(:token AS text), strpos(CAST(:token AS text), '.') + 1) AND lease_token = :token
    AND coalesce(status = 'leased', false)
RETURNING id

-- hold_jobs --
-- Lock jobs that are about to end, and return those that still can.
SELECT jobs.id FROM jobs JOIN unnest(CAST(:job_ids AS text[]), CAST(:lease_tokens AS text[])) AS wanted(id, lease_token) ON wanted.id = jobs.id
WHERE jobs.status = ANY(:sources) AND (wanted.lease_token IS NULL OR wanted.lease_token = jobs.lease_token)
ORDER BY jobs.id FOR NO KEY UPDATE OF jobs

-- withdraw_tasks --
-- Void the open tasks of ending jobs; reports about them are discarded. It is a separate statement after the lock on
-- the jobs, so that it sees tasks that were planned during the wait for the lock. It comes before the jobs end, because
-- their end locks rows of account_queues, which others lock after tasks.
WITH held AS (
    SELECT id FROM tasks WHERE job_id = ANY(:job_ids) AND status IN ('pending', 'leased') ORDER BY id FOR NO KEY UPDATE
), withdrawn AS (
    UPDATE tasks SET status = 'withdrawn', lease_token = NULL, lease_expires_at = NULL, finished_at = :now
    FROM held WHERE tasks.id = held.id
)
SELECT pg_notify('withdrawn', '')

-- lose_segments --
-- Let segments that are missing in storage be rendered again.
UPDATE tasks SET status = 'pending', segment_key = NULL, finished_at = NULL, report = NULL, worker = NULL
WHERE job_id = :job_id AND kind = 'render' AND status = 'done' AND segment_key = ANY(:segment_keys)
RETURNING id

-- rescue_tasks --
-- Let tasks of dead schedulers wait again, without counting a failure.
WITH orphans AS (
    SELECT id FROM tasks WHERE status = 'leased' AND lease_expires_at < :now
    ORDER BY lease_expires_at LIMIT :tasks_max FOR NO KEY UPDATE SKIP LOCKED
), rescued AS (
    UPDATE tasks SET status = 'pending', lease_token = NULL, lease_expires_at = NULL, worker = NULL
    FROM orphans WHERE tasks.id = orphans.id
    RETURNING tasks.id, tasks.job_id, tasks.index
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT rescued.job_id, :now, 'rescue task', jobs.status, jsonb_build_object('task', rescued.index)
    FROM rescued JOIN jobs ON jobs.id = rescued.job_id ORDER BY rescued.job_id, rescued.index
)
SELECT id FROM rescued

-- shorten_leases --
-- Shorten leases that end later than is possible, because they were given before the clock was set back. They then end
-- as if they were given now: a live scheduler renews its leases until then, and a dead one does not. Workers last seen
-- before then count as seen now, for the same reason.
WITH ahead_jobs AS MATERIALIZED (
    SELECT jobs.id FROM held_jobs JOIN jobs ON jobs.id = held_jobs.job_id
    WHERE held_jobs.lease_expires_at > CAST(:now AS timestamptz) + make_interval(secs => 2 * :job_seconds)
        AND jobs.lease_expires_at IS NOT NULL
    ORDER BY jobs.id FOR NO KEY UPDATE OF jobs SKIP LOCKED
), jobs_shortened AS (
    UPDATE jobs SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :job_seconds)
    FROM ahead_jobs WHERE jobs.id = ahead_jobs.id RETURNING jobs.id
), ahead_tasks AS MATERIALIZED (
    SELECT id FROM tasks WHERE status = 'leased'
        AND lease_expires_at > CAST(:now AS timestamptz) + make_interval(secs => 2 * :task_seconds)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), tasks_shortened AS (
    UPDATE tasks SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :task_seconds)
    FROM ahead_tasks WHERE tasks.id = ahead_tasks.id RETURNING tasks.id
), ahead_workers AS MATERIALIZED (
    SELECT id FROM workers WHERE seen_at > CAST(:now AS timestamptz) + make_interval(secs => :live_seconds)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), workers_seen AS (
    UPDATE workers SET seen_at = :now FROM ahead_workers WHERE workers.id = ahead_workers.id RETURNING workers.id
), ahead_deliveries AS MATERIALIZED (
    SELECT id FROM deliveries WHERE status = 'due'
        AND lease_expires_at > CAST(:now AS timestamptz) + make_interval(secs => 2 * :post_seconds)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), deliveries_shortened AS (
    UPDATE deliveries SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :post_seconds)
    FROM ahead_deliveries WHERE deliveries.id = ahead_deliveries.id RETURNING deliveries.id
)
SELECT (SELECT count(*) FROM jobs_shortened) + (SELECT count(*) FROM tasks_shortened) + (SELECT count(*) FROM workers_seen)
    + (SELECT count(*) FROM deliveries_shortened) AS shortened

-- count_open --
SELECT (SELECT coalesce(sum(waiting + running), 0) FROM open_jobs) + (SELECT coalesce(sum(queued), 0) FROM account_queues)

-- hand_back_tasks --
-- Let the tasks of a scheduler that stops wait again at once.
WITH held AS MATERIALIZED (
    SELECT leased.id FROM (
        SELECT token FROM unnest(CAST(:tokens AS text[])) AS token ORDER BY substr(token, strpos(token, '.') + 1)
    ) AS wanted JOIN LATERAL (
        SELECT id, lease_token FROM tasks
        WHERE id = substr(token, strpos(token, '.') + 1) AND coalesce(status = 'leased', false) FOR NO KEY UPDATE
    ) AS leased ON leased.lease_token = token
), returned AS (
    UPDATE tasks SET status = 'pending', lease_token = NULL, lease_expires_at = NULL, worker = NULL
    FROM held WHERE tasks.id = held.id
    RETURNING tasks.job_id, tasks.index
)
INSERT INTO job_events (job_id, at, event, status, detail)
SELECT returned.job_id, :now, 'hand back task', jobs.status, jsonb_build_object('task', returned.index)
FROM returned JOIN jobs ON jobs.id = returned.job_id ORDER BY returned.job_id, returned.index

-- stranded_jobs --
-- Find jobs whose renderer does not exist any more. OFFSET 0 keeps the planner from reading all jobs instead of the
-- open ones.
SELECT job.id FROM open_jobs CROSS JOIN LATERAL (SELECT id, renderer FROM jobs WHERE jobs.id = open_jobs.job_id OFFSET 0) AS job
WHERE NOT job.renderer = ANY(:renderers)

-- stop_leases --
-- Wait until no other transaction is changing tasks, and block new ones until this one ends. A later lease then reads
-- the job as this transaction leaves it.
LOCK TABLE tasks IN SHARE ROW EXCLUSIVE MODE

-- unpin_jobs --
-- Restart stranded jobs with another renderer, because segments of two renderers do not fit together. Jobs with a
-- leased task are left for the next time.
WITH held AS (
    SELECT id FROM jobs WHERE id = ANY(:job_ids) AND status = 'processing' AND NOT renderer = ANY(:renderers)
        AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.job_id = jobs.id AND tasks.status = 'leased')
    ORDER BY id FOR NO KEY UPDATE
), stranded AS (
    UPDATE jobs SET renderer = NULL, plan_key = NULL FROM held WHERE jobs.id = held.id
    RETURNING jobs.id
), undone AS (
    UPDATE tasks SET status = 'pending', segment_key = NULL, finished_at = NULL, report = NULL, worker = NULL
    FROM stranded WHERE tasks.job_id = stranded.id AND tasks.status = 'done'
    RETURNING tasks.job_id
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status) SELECT DISTINCT job_id, CAST(:now AS timestamptz), 'unpin', 'processing' FROM undone
)
SELECT job_id FROM undone

-- finished_frames --
-- Return the frames of each job's finished segments: its progress if Redis does not know it.
SELECT jobs.id, jobs.frame_count, coalesce(sum(tasks.frame_count), 0) AS frames
FROM jobs LEFT JOIN tasks ON tasks.job_id = jobs.id AND tasks.kind = 'render' AND tasks.status = 'done'
WHERE jobs.id = ANY(:job_ids)
GROUP BY jobs.id, jobs.frame_count

-- see_workers --
-- Record the live workers. If a worker was last seen in the future, the clock was set back: its quarantine then ends no
-- later than one that starts now.
INSERT INTO workers (id, node, renderer, device, encoder, memory_bytes, disk_free_bytes, frames_done, failures, seen_at)
SELECT seen.*, 0, :now FROM unnest(CAST(:ids AS text[]), CAST(:nodes AS text[]), CAST(:renderers AS text[]),
    CAST(:devices AS text[]), CAST(:encoders AS text[]), CAST(:memories AS bigint[]), CAST(:disks AS bigint[]),
    CAST(:frames AS bigint[])) AS seen
ON CONFLICT (id) DO UPDATE SET node = excluded.node, renderer = excluded.renderer, device = excluded.device,
    encoder = excluded.encoder, memory_bytes = excluded.memory_bytes, disk_free_bytes = excluded.disk_free_bytes, frames_done = excluded.frames_done, seen_at = excluded.seen_at,
    quarantined_until = CASE WHEN workers.seen_at > excluded.seen_at + make_interval(secs => :live_seconds)
        THEN least(workers.quarantined_until, excluded.seen_at + make_interval(secs => :rest_seconds_max)) ELSE workers.quarantined_until END

-- usable_workers --
-- Return the number of tasks at each of these workers, without workers that are quarantined, drained or about to
-- restart. Tasks are counted worker by worker: a join can read those of all workers.
SELECT workers.id, (SELECT count(*) FROM tasks WHERE tasks.worker = workers.id AND tasks.status = 'leased') AS load FROM workers
WHERE workers.id = ANY(:ids) AND (workers.quarantined_until IS NULL OR workers.quarantined_until <= :now)
    AND workers.drained_at IS NULL AND workers.restart_requested_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM drained_nodes WHERE drained_nodes.node = workers.node)

-- restartable_workers --
-- Return workers that must restart and hold no task, each to one scheduler only.
WITH idle AS (
    SELECT id FROM workers WHERE id = ANY(:ids) AND restart_requested_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.worker = workers.id AND tasks.status = 'leased')
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE workers SET restart_requested_at = NULL FROM idle WHERE workers.id = idle.id
RETURNING workers.id

-- blame_worker --
-- Count a failure. From the third in a row, the worker is quarantined, longer each time, for at most ten minutes.
-- The exponent has a limit, because a power beyond the largest number is an error.
-- The job is more probably to blame than the worker if the history has a completed job of others, but none of its account.
-- The worker is to blame all the same if jobs of several accounts failed there lately and were completed elsewhere. Failures are read
-- first, and their jobs one by one: a plan from the time of few completed jobs read all of those.
UPDATE workers SET failures = failures + 1, quarantined_until = CASE WHEN failures + 1 >= :failures_max
    THEN CAST(:now AS timestamptz) + make_interval(secs => least(:rest_seconds_max, 15 * power(2, least(failures + 1 - :failures_max, 10)))) END
WHERE id = :id AND (EXISTS (SELECT 1 FROM account_queues WHERE account_id = :account_id AND completed > 0)
    OR NOT EXISTS (SELECT 1 FROM account_queues WHERE completed > 0)
    OR (SELECT count(DISTINCT jobs.account_id) FROM (
            SELECT DISTINCT job_id FROM job_events WHERE at > :since AND at <= :now AND (detail ->> 'kind') IN ('crash', 'stall') AND detail ->> 'worker' = :id
        ) AS failed CROSS JOIN LATERAL (SELECT account_id FROM jobs WHERE id = failed.job_id AND status = 'completed' LIMIT 1) AS jobs
    ) >= :accounts_min)
RETURNING quarantined_until

-- forgive_workers --
-- Reset the failures of workers if several of them died of the job: the document was to blame. A single failing worker
-- may itself be broken.
WITH accused AS (
    SELECT array_agg(DISTINCT detail ->> 'worker') AS ids FROM job_events
    WHERE job_id = :job_id AND detail ->> 'kind' IN ('crash', 'stall')
), held AS (
    SELECT workers.id FROM workers JOIN accused ON cardinality(accused.ids) > 1 AND workers.id = ANY(accused.ids)
    ORDER BY workers.id FOR NO KEY UPDATE OF workers
)
UPDATE workers SET failures = 0, quarantined_until = NULL FROM held WHERE workers.id = held.id

-- striking_accounts --
-- Find accounts whose jobs brought workers down repeatedly. Completed jobs were not to blame, and an account with
-- thousands of open jobs meets some broken workers by chance.
SELECT jobs.account_id, sum(CASE job_events.detail ->> 'kind' WHEN 'stall' THEN :stall_strikes ELSE 1 END) AS strikes,
    max(job_events.at) FILTER (WHERE job_events.detail ->> 'kind' = 'stall') AS last_stall_at
FROM job_events JOIN jobs ON jobs.id = job_events.job_id
    JOIN account_queues ON account_queues.account_id = jobs.account_id
WHERE job_events.at > :since AND job_events.at <= :now AND (job_events.detail ->> 'kind') IN ('crash', 'stall') AND jobs.status <> 'completed'
GROUP BY jobs.account_id, account_queues.processing
HAVING sum(CASE job_events.detail ->> 'kind' WHEN 'stall' THEN :stall_strikes ELSE 1 END) >= greatest(:strikes_max, :strikes_share * account_queues.processing)

-- record_slow_frames --
INSERT INTO slow_frames (at, account_id, worker)
SELECT :now, slow.* FROM unnest(CAST(:account_ids AS text[]), CAST(:workers AS text[])) AS slow

-- forget_slow_frames --
DELETE FROM slow_frames WHERE at < :before

-- slow_accounts --
SELECT account_id, max(at) AS at FROM slow_frames WHERE at > :since AND at <= :now GROUP BY account_id

-- forget_workers --
-- Forget workers that are gone, and drained nodes that have none. Drained workers, and all workers of drained nodes, are kept for longer.
WITH forgotten AS (
    DELETE FROM workers WHERE seen_at < :before AND (seen_at < :drained_before
        OR drained_at IS NULL AND NOT EXISTS (SELECT 1 FROM drained_nodes WHERE drained_nodes.node = workers.node))
)
DELETE FROM drained_nodes WHERE drained_at < :drained_before
    AND NOT EXISTS (SELECT 1 FROM workers WHERE workers.node = drained_nodes.node)

-- live_workers --
SELECT id FROM workers WHERE seen_at >= :since AND (quarantined_until IS NULL OR quarantined_until <= :now)
    AND drained_at IS NULL AND NOT EXISTS (SELECT 1 FROM drained_nodes WHERE drained_nodes.node = workers.node)

-- lasting_workers --
-- Return the workers that can get tasks, also those that restart: they were seen a while ago.
SELECT id, node, renderer FROM workers WHERE seen_at >= :since AND (quarantined_until IS NULL OR quarantined_until <= :now)
    AND drained_at IS NULL AND NOT EXISTS (SELECT 1 FROM drained_nodes WHERE drained_nodes.node = workers.node)

-- live_renderers --
-- Return the renderers of workers that some scheduler has seen just now, on any Ray cluster.
SELECT DISTINCT renderer FROM workers WHERE seen_at >= :since

-- open_segments --
-- Return the bytes of the finished segments of each open job, with what limits its account. Without `any_account`, only
-- accounts that can have a limit are read. A segment that several jobs of an account need counts for one of them
-- (`counted_bytes`), so that the sum is what the account takes.
-- Rows are looked up one by one, because the planner would read all accounts, tasks and segments instead.
WITH owners AS MATERIALIZED (
    SELECT owner.*, (SELECT stored_bytes FROM account_queues WHERE account_queues.account_id = owner.id) AS stored_bytes
    FROM (SELECT DISTINCT account_id FROM open_jobs) AS working CROSS JOIN LATERAL (
        SELECT id, plan, max_storage_bytes, unlimited FROM accounts WHERE accounts.id = working.account_id
            AND (CAST(:any_account AS boolean) OR max_storage_bytes IS NOT NULL OR plan = ANY(:limited_plans)) LIMIT 1
    ) AS owner
), needed AS MATERIALIZED (
    SELECT owners.id AS account_id, open_jobs.job_id, done.segment_key,
        row_number() OVER (PARTITION BY owners.id, done.segment_key ORDER BY open_jobs.job_id) AS use
    FROM owners JOIN open_jobs ON open_jobs.account_id = owners.id CROSS JOIN LATERAL (
        SELECT DISTINCT segment_key FROM tasks WHERE tasks.job_id = open_jobs.job_id AND segment_key IS NOT NULL OFFSET 0
    ) AS done
), sums AS MATERIALIZED (
    SELECT account_id, job_id, CAST(sum(stored.bytes) AS bigint) AS bytes,
        CAST(coalesce(sum(stored.bytes) FILTER (WHERE use = 1), 0) AS bigint) AS counted_bytes
    FROM needed CROSS JOIN LATERAL (SELECT bytes FROM segments WHERE segments.key = needed.segment_key LIMIT 1) AS stored
    GROUP BY account_id, job_id
)
SELECT sums.*, owners.stored_bytes, owners.plan, owners.max_storage_bytes, owners.unlimited
FROM sums JOIN owners ON owners.id = sums.account_id ORDER BY sums.account_id, sums.bytes DESC, sums.job_id

-- surplus_segments --
-- Return the least recently used segments beyond the budget that no running job needs, among the oldest ones. There are
-- more candidates than running jobs need segments: these can be the oldest.
WITH surplus AS MATERIALIZED (
    SELECT sum(bytes) - :bytes_max AS bytes FROM segments
), needed AS MATERIALIZED (
    SELECT DISTINCT done.segment_key FROM open_jobs CROSS JOIN LATERAL (
        SELECT segment_key FROM tasks WHERE tasks.job_id = open_jobs.job_id AND segment_key IS NOT NULL OFFSET 0
    ) AS done
), oldest AS MATERIALIZED (
    SELECT key, sum(bytes) OVER (ORDER BY used_at, key DESC) - bytes AS older_bytes FROM segments
    ORDER BY used_at, key DESC LIMIT (SELECT :segments_max + count(*) FROM needed)
)
SELECT oldest.key FROM oldest JOIN surplus ON oldest.older_bytes < surplus.bytes
WHERE NOT EXISTS (SELECT 1 FROM needed WHERE needed.segment_key = oldest.key) LIMIT :segments_max

-- forget_segments --
DELETE FROM segments WHERE key = ANY(:keys)

-- known_segments --
SELECT key FROM segments WHERE key = ANY(:keys)

-- claim_deliveries --
-- Claim due webhooks, each for one sender, including those whose sender died after it began to post (`begun`). Senders
-- that can read that sender's journal take them earlier. The attempt is counted before it is made. The first attempt
-- sets the times of the others. A later one sets them again if it is later than the longest previous attempt explains.
-- An account has at most `account_max` posts in flight, so that slow receivers do not delay other accounts. The accounts with the fewest
-- come first: many accounts with slow receivers could otherwise take every free place.
-- A time further ahead than the longest pause is from before the clock was set back; such a delivery is due now.
-- `due` repeats the conditions: Postgres checks them again on the locked row, which another sender can have claimed since `ready` read it.
-- The index finds accounts with due webhooks one by one, and only the first few webhooks of each are read, because an
-- account can have hundreds of thousands that are due, or that wait for their next attempt.
WITH RECURSIVE owners AS (
    (SELECT account_id FROM deliveries WHERE status = 'due' ORDER BY account_id LIMIT 1)
    UNION ALL
    SELECT (SELECT following.account_id FROM deliveries AS following
        WHERE following.status = 'due' AND following.account_id > owners.account_id ORDER BY following.account_id LIMIT 1)
    FROM owners WHERE owners.account_id IS NOT NULL
), busy AS (
    SELECT account_id, count(*) AS number FROM deliveries WHERE status = 'due' AND lease_expires_at >= :now GROUP BY account_id
), ready AS (
    SELECT first.id, first.due_at, row_number() OVER (PARTITION BY owners.account_id ORDER BY first.due_at, first.id)
        + coalesce(busy.number, 0) AS turn
    FROM owners LEFT JOIN busy ON busy.account_id = owners.account_id CROSS JOIN LATERAL (
        (SELECT id, due_at FROM deliveries AS own WHERE status = 'due' AND own.account_id = owners.account_id AND due_at <= :now
            AND (lease_expires_at IS NULL OR lease_expires_at < CAST(:now AS timestamptz)
                + CASE WHEN attempts -> -1 ->> 'place' = :journal THEN make_interval(secs => :sooner_seconds) ELSE interval '0' END)
        ORDER BY due_at, id LIMIT :account_max)
        UNION ALL
        (SELECT id, due_at FROM deliveries AS own WHERE status = 'due' AND own.account_id = owners.account_id
            AND due_at > CAST(:now AS timestamptz) + make_interval(secs => :ahead_seconds)
            AND (lease_expires_at IS NULL OR lease_expires_at < CAST(:now AS timestamptz)
                + CASE WHEN attempts -> -1 ->> 'place' = :journal THEN make_interval(secs => :sooner_seconds) ELSE interval '0' END)
        ORDER BY due_at, id LIMIT :account_max)
    ) AS first
), due AS (
    SELECT deliveries.id, jobs.request_id, jobs.traceparent FROM deliveries JOIN jobs ON jobs.id = deliveries.job_id
    WHERE deliveries.status = 'due' AND deliveries.id = ANY (ARRAY(
        SELECT id FROM ready WHERE turn <= :account_max ORDER BY turn, due_at LIMIT :deliveries_max))
        AND (deliveries.due_at <= :now OR deliveries.due_at > CAST(:now AS timestamptz) + make_interval(secs => :ahead_seconds))
        AND (deliveries.lease_expires_at IS NULL OR deliveries.lease_expires_at < CAST(:now AS timestamptz)
            + CASE WHEN deliveries.attempts -> -1 ->> 'place' = :journal THEN make_interval(secs => :sooner_seconds) ELSE interval '0' END)
    FOR NO KEY UPDATE OF deliveries SKIP LOCKED
)
UPDATE deliveries SET attempt = attempt + CASE WHEN attempts -> -1 @> '{"begun": true}' THEN 0 ELSE 1 END,
    due_at = CASE WHEN attempt = 0 OR due_at > :now OR due_at < CAST(:now AS timestamptz) - make_interval(secs => :late_seconds)
        THEN :now ELSE due_at END,
    lease_token = :token || '.' || deliveries.id,
    lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds)
FROM due WHERE deliveries.id = due.id
RETURNING due.request_id, due.traceparent, deliveries.id, deliveries.job_id, deliveries.url, deliveries.body, deliveries.attempt, deliveries.lease_token,
    coalesce(attempts -> -1 @> '{"begun": true}', false) AS begun, attempts -> -1 ->> 'place' AS journal

-- begin_delivery_attempt --
-- Record that the request is about to be sent. If the sender dies after this, it is unknown whether the receiver got
-- it. Idempotent.
UPDATE deliveries SET lease_expires_at = CAST(:now AS timestamptz) + make_interval(secs => :lease_seconds),
    attempts = CASE WHEN attempts -> -1 @> '{"begun": true}' THEN attempts ELSE attempts || CAST(:record AS jsonb) END
WHERE lease_token = :token AND status = 'due'
RETURNING id

-- end_delivery_attempt --
-- Replace the entry of the begun attempt with its outcome.
UPDATE deliveries SET status = CAST(:status AS text), due_at = due_at + make_interval(secs => :after_seconds),
    lease_token = NULL, lease_expires_at = NULL,
    attempts = CASE WHEN attempts -> -1 @> '{"begun": true}' THEN attempts - -1 ELSE attempts END || CAST(:outcome AS jsonb),
    finished_at = CASE WHEN CAST(:status AS text) = 'due' THEN NULL ELSE CAST(:now AS timestamptz) END
WHERE lease_token = :token AND status = 'due'
RETURNING id

-- next_delivery --
SELECT least(
    (SELECT due_at FROM deliveries WHERE status = 'due' AND lease_expires_at IS NULL ORDER BY due_at LIMIT 1),
    (SELECT min(greatest(due_at, lease_expires_at)) FROM deliveries WHERE status = 'due' AND lease_expires_at IS NOT NULL)
)

-- repeat_delivery --
-- Post a webhook again at an operator's request; its earlier attempts stay on record.
UPDATE deliveries SET status = 'due', attempt = 0, due_at = :now, finished_at = NULL
WHERE job_id = :job_id AND status IN ('delivered', 'dropped')
RETURNING id

-- queue_by_account --
-- Return the waiting and running work of each account; `oldest` is the creation of its next job.
SELECT accounts.name, accounts.priority, accounts.paused_at, accounts.suspended_at, queues.queued,
    queues.next_created_at AS oldest, queues.processing, coalesce(work.pending, 0) AS pending, coalesce(work.leased, 0) AS leased
FROM account_queues AS queues JOIN accounts ON accounts.id = queues.account_id
LEFT JOIN (
    SELECT account_id, sum(waiting) AS pending, sum(running) AS leased FROM open_jobs GROUP BY account_id
) AS work ON work.account_id = queues.account_id
WHERE queues.queued > 0 OR queues.processing > 0
ORDER BY accounts.name

-- recent_frames --
-- Return the frames that each worker finished lately. Their jobs are in processing, or have ended since. OFFSET 0 keeps
-- the planner from reading all tasks instead of those of each job.
WITH recent AS MATERIALIZED (
    SELECT job_id AS id FROM open_jobs UNION ALL SELECT id FROM jobs WHERE finished_at > :since
)
SELECT done.worker, sum(done.frame_count) AS frames FROM recent CROSS JOIN LATERAL (
    SELECT worker, frame_count FROM tasks
    WHERE tasks.job_id = recent.id AND status = 'done' AND kind = 'render' AND finished_at > :since AND worker IS NOT NULL
    OFFSET 0
) AS done GROUP BY done.worker

-- frames_left --
-- Return the number of unrendered frames of planned jobs, of jobs that wait for their plan, and of queued ones,
-- estimated from the mean of the oldest.
SELECT (SELECT coalesce(sum(open_frames), 0) FROM open_jobs)
    + (SELECT coalesce(sum(held.frame_count), 0) FROM held_jobs
        CROSS JOIN LATERAL (SELECT frame_count FROM jobs WHERE jobs.id = held_jobs.job_id OFFSET 0) AS held)
    + (SELECT coalesce(sum(queued), 0) FROM account_queues) * (SELECT coalesce(avg(frame_count), 0) FROM (
        SELECT frame_count FROM jobs WHERE finished_at IS NULL AND status = 'queued' ORDER BY created_at, id LIMIT 1000) AS sample)

-- write_event --
INSERT INTO job_events (job_id, at, event, status, detail)
SELECT jobs.id, :now, :event, jobs.status, CAST(:detail AS jsonb) FROM jobs WHERE jobs.id = :job_id

-- rank_jobs --
-- Set the priority of jobs that have not ended.
WITH held AS (
    SELECT id, priority FROM jobs WHERE id = ANY(:job_ids) AND status IN ('queued', 'processing') ORDER BY id FOR NO KEY UPDATE
), ranked AS (
    UPDATE jobs SET priority = :priority FROM held WHERE jobs.id = held.id AND jobs.priority <> :priority
    RETURNING jobs.id, jobs.status, held.priority AS former
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT id, :now, 'set priority', status, jsonb_build_object('from', former, 'to', CAST(:priority AS int)) FROM ranked
)
SELECT id FROM ranked

-- create_jobs --
-- Store queued jobs (a JSON array of rows), their first events and their count in the month, and wake the schedulers.
-- The result names the stored jobs; there is no row if none was stored. A job is skipped if its account has already
-- used its idempotency key. Columns of later releases get their defaults. Inputs and metadata above a kilobyte count in
-- the account's storage, because Postgres stores them.
WITH stored AS (
    INSERT INTO jobs (id, account_id, template_id, template_version, status, progress, inputs, width, height, fps, frame_count, format, transparent, has_sound,
        reserved_ms, origin, callback_url, idempotency_key, request_hash, metadata, request_id, traceparent, batch_id, batch_index, attempt,
        created_at, priority)
    SELECT id, account_id, template_id, coalesce(template_version, 1), status, progress, inputs, width, height, fps, frame_count, format, transparent, has_sound,
        reserved_ms, origin, callback_url, idempotency_key, request_hash, metadata, request_id, traceparent, batch_id, batch_index, attempt,
        created_at, priority
    FROM jsonb_populate_recordset(CAST(NULL AS jobs), CAST(:jobs AS jsonb))
    ON CONFLICT DO NOTHING
    RETURNING id, account_id, octet_length(CAST(inputs AS text)) + coalesce(octet_length(CAST(metadata AS text)), 0) AS bytes
), charged AS (
    INSERT INTO object_charges (account_id, key, bytes) SELECT account_id, 'inputs/' || id, bytes FROM stored WHERE bytes > 1024
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status) SELECT id, :now, 'create', 'queued' FROM stored
), counted AS (
    INSERT INTO usage (account_id, period, render_jobs)
    SELECT account_id, :period, count(*) FROM stored GROUP BY account_id ORDER BY account_id
    ON CONFLICT (account_id, period) DO UPDATE SET render_jobs = usage.render_jobs + excluded.render_jobs
)
SELECT array_agg(id) AS ids, pg_notify('jobs', min(id)) FROM stored HAVING count(*) > 0

-- render_minutes --
-- Return the render time of an account in a month, in milliseconds: used by ended renders, and reserved by others.
SELECT coalesce((SELECT rendered_ms FROM usage WHERE account_id = :account_id AND period = :period), 0) AS rendered_ms,
    coalesce((SELECT reserved_ms FROM account_queues WHERE account_id = :account_id), 0) AS reserved_ms

-- create_again --
-- Create failed and cancelled jobs again with the same request. The idempotency key stays with the earlier job. Each new
-- job takes the earlier job's place in its batch. The join makes the earlier job leave first: a place has one job.
WITH former AS (
    SELECT jobs.*, wanted.new_id FROM unnest(CAST(:ids AS text[]), CAST(:new_ids AS text[])) AS wanted(old_id, new_id)
    JOIN jobs ON jobs.id = wanted.old_id
    WHERE jobs.status IN ('failed', 'cancelled') ORDER BY jobs.id FOR NO KEY UPDATE OF jobs
), vacated AS (
    UPDATE jobs SET batch_id = NULL, batch_index = NULL FROM former WHERE jobs.id = former.id AND former.batch_id IS NOT NULL
    RETURNING jobs.id AS job_id
), again AS (
    INSERT INTO jobs (id, account_id, template_id, template_version, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        callback_url, request_hash, attempt, created_at, priority, metadata, format, transparent, has_sound, batch_id, batch_index)
    SELECT new_id, account_id, template_id, template_version, 'queued', 0, inputs, width, height, fps, frame_count, reserved_ms, origin,
        callback_url, request_hash, 0, :now, priority, metadata, format, transparent, has_sound, batch_id, batch_index
    FROM former LEFT JOIN vacated ON vacated.job_id = former.id
    RETURNING id, account_id, octet_length(CAST(inputs AS text)) + coalesce(octet_length(CAST(metadata AS text)), 0) AS bytes
), charged AS (
    INSERT INTO object_charges (account_id, key, bytes) SELECT account_id, 'inputs/' || id, bytes FROM again WHERE bytes > 1024
), recorded AS (
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT former.id, CAST(:now AS timestamptz), 'retry', former.status, jsonb_build_object('job', former.new_id) FROM former
    UNION ALL
    SELECT former.new_id, CAST(:now AS timestamptz), 'create', 'queued', jsonb_build_object('again', former.id) FROM former
), counted AS (
    INSERT INTO usage (account_id, period, render_jobs)
    SELECT account_id, :period, count(*) FROM again GROUP BY account_id ORDER BY account_id
    ON CONFLICT (account_id, period) DO UPDATE SET render_jobs = usage.render_jobs + excluded.render_jobs
)
SELECT former.id AS old_id, again.id AS new_id FROM again JOIN former ON former.new_id = again.id

-- requeue_segment --
-- Let a segment wait again, and an assembly that started without it.
WITH held AS (
    SELECT id FROM jobs WHERE id = :job_id AND status = 'processing' FOR NO KEY UPDATE
), segment AS (
    SELECT tasks.id, tasks.job_id FROM tasks JOIN held ON held.id = tasks.job_id
    WHERE tasks.index = :index AND tasks.kind = 'render' AND tasks.status IN ('leased', 'done')
), chosen AS (
    SELECT tasks.id FROM tasks JOIN segment ON segment.job_id = tasks.job_id
    WHERE tasks.id = segment.id OR (tasks.kind = 'assemble' AND tasks.status = 'leased')
    ORDER BY tasks.id FOR NO KEY UPDATE OF tasks
)
UPDATE tasks SET status = 'pending', lease_token = NULL, lease_expires_at = NULL, worker = NULL, segment_key = NULL,
    report = NULL, finished_at = NULL, not_before = NULL
FROM chosen WHERE tasks.id = chosen.id
RETURNING tasks.id

-- expired_jobs --
SELECT id FROM jobs
WHERE finished_at < :before AND NOT EXISTS (SELECT 1 FROM deliveries WHERE job_id = jobs.id AND status = 'due')
ORDER BY finished_at LIMIT :jobs_max FOR UPDATE SKIP LOCKED

-- delete_jobs --
-- Delete ended jobs with everything that belongs to them. Foreign keys are checked after all rows are deleted.
WITH doomed AS (
    SELECT id, account_id, video_key, receipt_key, document_key, media FROM jobs
    WHERE id = ANY(:job_ids) AND finished_at IS NOT NULL ORDER BY id FOR UPDATE
), gone_deliveries AS (
    DELETE FROM deliveries USING doomed WHERE deliveries.job_id = doomed.id
), gone_tasks AS (
    DELETE FROM tasks USING doomed WHERE tasks.job_id = doomed.id RETURNING tasks.job_id, tasks.segment_key
), gone_events AS (
    DELETE FROM job_events USING doomed WHERE job_events.job_id = doomed.id
), queues AS (
    SELECT account_id FROM account_queues WHERE account_id = ANY(ARRAY(SELECT account_id FROM doomed))
    ORDER BY account_id FOR NO KEY UPDATE
), gone_charges AS (
    DELETE FROM object_charges USING doomed JOIN queues ON queues.account_id = doomed.account_id
    WHERE object_charges.account_id = doomed.account_id AND object_charges.key = 'inputs/' || doomed.id
), gone AS (
    DELETE FROM jobs USING doomed WHERE jobs.id = doomed.id RETURNING jobs.id
)
SELECT doomed.video_key, doomed.receipt_key, doomed.document_key,
    (SELECT array_agg(value) FROM jsonb_each_text(
        CASE WHEN jsonb_typeof(doomed.media) = 'object' THEN doomed.media ELSE CAST('{}' AS jsonb) END)) AS media_keys,
    (SELECT array_agg(segment_key) FROM gone_tasks WHERE job_id = doomed.id AND segment_key IS NOT NULL) AS segment_keys
FROM doomed JOIN gone ON gone.id = doomed.id

-- delete_batches --
-- Check the next batches by id, and delete those that were created before the moment and have no job. The result has
-- the last checked id, null after the last batch.
WITH page AS (
    SELECT id, created_at FROM batches WHERE id > :after ORDER BY id LIMIT :rows_max
), doomed AS (
    SELECT batches.id, batches.account_id FROM page JOIN batches ON batches.id = page.id
    WHERE page.created_at < :before AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.batch_id = page.id)
    FOR UPDATE OF batches SKIP LOCKED
), queues AS (
    SELECT account_id FROM account_queues WHERE account_id = ANY(ARRAY(SELECT account_id FROM doomed))
    ORDER BY account_id FOR NO KEY UPDATE
), gone_charges AS (
    DELETE FROM object_charges USING doomed JOIN queues ON queues.account_id = doomed.account_id
    WHERE object_charges.account_id = doomed.account_id AND object_charges.key = 'batches/' || doomed.id
), gone AS (
    DELETE FROM batches USING doomed WHERE batches.id = doomed.id RETURNING 1
)
SELECT max(page.id) AS last, (SELECT count(*) FROM gone) AS deleted FROM page

-- delete_templates --
-- Do the same for templates that were deleted before the moment and that no job or batch refers to.
WITH page AS (
    SELECT id, deleted_at FROM templates WHERE id > :after ORDER BY id LIMIT :rows_max
), doomed AS (
    SELECT templates.id FROM page JOIN templates ON templates.id = page.id
    WHERE page.deleted_at < :before AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.template_id = page.id)
        AND NOT EXISTS (SELECT 1 FROM batches WHERE batches.template_id = page.id)
        AND NOT EXISTS (SELECT 1 FROM template_versions WHERE template_versions.template_id = page.id)
    FOR UPDATE OF templates SKIP LOCKED
), gone AS (
    DELETE FROM templates USING doomed WHERE templates.id = doomed.id RETURNING 1
)
SELECT max(page.id) AS last, (SELECT count(*) FROM gone) AS deleted FROM page

-- delete_template_versions --
-- Delete former versions of templates that no job needs: they were replaced before the moment, and the account's oldest
-- open job was created more than an hour later. The hour is for running requests, which can create a job of a version
-- that they read before. Restorable versions stay until their template was deleted before the moment: CASE looks up no
-- job for them.
WITH doomed AS (
    SELECT versions.template_id, versions.version FROM template_versions AS versions
    JOIN templates ON templates.id = versions.template_id
    WHERE versions.replaced_at < :before AND CASE
        WHEN versions.restorable AND (templates.deleted_at IS NULL OR templates.deleted_at >= :before) THEN false ELSE NOT EXISTS (
        SELECT 1 FROM (
            SELECT created_at FROM jobs WHERE jobs.account_id = versions.account_id AND jobs.finished_at IS NULL
            ORDER BY created_at, id LIMIT 1
        ) AS oldest WHERE oldest.created_at <= versions.replaced_at + interval '1 hour'
    ) END
    ORDER BY versions.replaced_at LIMIT :rows_max FOR UPDATE OF versions SKIP LOCKED
)
DELETE FROM template_versions AS versions USING doomed
WHERE versions.template_id = doomed.template_id AND versions.version = doomed.version
RETURNING versions.template_id

-- needed_keys --
-- Return those keys that jobs or templates refer to. A job needs its objects until it has ended before the moment (for
-- ever, without one). Each reference is found by its own index. A receipt is needed with its video, and the document of
-- a deleted template with the template's jobs, or if it was deleted since another moment: it may be restored.
SELECT key FROM unnest(CAST(:keys AS text[])) AS wanted(key)
WHERE EXISTS (
    SELECT 1 FROM jobs WHERE jobs.video_key = ANY(ARRAY[wanted.key, regexp_replace(wanted.key, '[.]json$', '.mp4'),
            regexp_replace(wanted.key, '[.]json$', '.webm'), regexp_replace(wanted.key, '[.]json$', '.mov'),
            regexp_replace(wanted.key, '[.]json$', '.gif'), regexp_replace(wanted.key, '[.]json$', '.webp'),
            regexp_replace(wanted.key, '[.]json$', '.zip')])
        AND (CAST(:before AS timestamptz) IS NULL OR jobs.finished_at IS NULL OR jobs.finished_at >= :before)
) OR EXISTS (
    SELECT 1 FROM jobs WHERE jobs.document_key = wanted.key
        AND (CAST(:before AS timestamptz) IS NULL OR jobs.finished_at IS NULL OR jobs.finished_at >= :before)
) OR EXISTS (
    SELECT 1 FROM jobs WHERE jsonb_typeof(jobs.media) = 'object' AND jobs.media <> CAST('{}' AS jsonb)
        AND jsonb_path_query_array(jobs.media, CAST('$.*' AS jsonpath)) @> to_jsonb(wanted.key)
        AND (CAST(:before AS timestamptz) IS NULL OR jobs.finished_at IS NULL OR jobs.finished_at >= :before)
) OR EXISTS (
    SELECT 1 FROM templates WHERE templates.document_key = wanted.key AND (templates.deleted_at IS NULL
        OR templates.deleted_at >= CAST(:deleted_since AS timestamptz) OR EXISTS (
        SELECT 1 FROM jobs WHERE jobs.template_id = templates.id
            AND (CAST(:before AS timestamptz) IS NULL OR jobs.finished_at IS NULL OR jobs.finished_at >= :before)
    ))
) OR EXISTS (
    SELECT 1 FROM template_versions WHERE template_versions.document_key = wanted.key
)

-- forget_objects --
-- Stop counting objects. Every change of object_charges locks the row of account_queues first.
WITH held AS (
    SELECT account_id FROM account_queues
    WHERE account_id IN (SELECT account_id FROM object_charges WHERE key = ANY(:keys)) ORDER BY account_id FOR NO KEY UPDATE
)
DELETE FROM object_charges USING held WHERE object_charges.account_id = held.account_id AND object_charges.key = ANY(:keys)

-- queue_page --
-- Return the next accounts by id, and whether the queue row of each names its next job and its most urgent open job.
-- The oldest queued job must be in waiting_jobs, and the next waiting job must be queued.
SELECT page.id, queue.account_id IS NOT NULL AND queue.next_job_id IS NOT DISTINCT FROM next_job.job_id
    AND queue.ready_place IS NOT DISTINCT FROM next_ready.ready_place
    AND next_job.is_queued IS NOT FALSE AND oldest.waits IS NOT FALSE AS is_right
FROM (SELECT id FROM accounts WHERE id > :after ORDER BY id LIMIT :accounts_max) AS page
LEFT JOIN account_queues AS queue ON queue.account_id = page.id
LEFT JOIN LATERAL (
    SELECT waiting_jobs.job_id, EXISTS (SELECT 1 FROM jobs WHERE jobs.id = waiting_jobs.job_id AND jobs.status = 'queued') AS is_queued
    FROM waiting_jobs WHERE waiting_jobs.account_id = page.id ORDER BY waiting_jobs.place, waiting_jobs.job_id LIMIT 1
) AS next_job ON true
LEFT JOIN LATERAL (
    SELECT EXISTS (
        SELECT 1 FROM waiting_jobs WHERE waiting_jobs.account_id = page.id AND waiting_jobs.job_id = jobs.id
            AND waiting_jobs.place = job_place(jobs.created_at, jobs.reserved_ms, jobs.priority)
    ) AS waits
    FROM jobs WHERE jobs.account_id = page.id AND jobs.finished_at IS NULL AND jobs.status = 'queued'
    ORDER BY jobs.created_at, jobs.id LIMIT 1
) AS oldest ON true
LEFT JOIN LATERAL (
    SELECT open_jobs.ready_place FROM open_jobs WHERE open_jobs.account_id = page.id AND open_jobs.ready_place IS NOT NULL
    ORDER BY open_jobs.ready_place, open_jobs.job_id LIMIT 1
) AS next_ready ON true
ORDER BY page.id

-- miscounted_accounts --
-- Find accounts whose queue row does not match their jobs in processing or frames in flight, or whose open jobs have
-- wrong sums of tasks or a wrong renderer. Jobs in processing are found by their leases and open tasks.
WITH processing AS MATERIALIZED (
    SELECT jobs.* FROM (
        SELECT job_id FROM open_jobs UNION SELECT job_id FROM tasks WHERE status = 'pending' UNION SELECT job_id FROM tasks WHERE status = 'leased'
        UNION SELECT job_id FROM held_jobs
    ) AS known CROSS JOIN LATERAL (SELECT id, account_id, status, renderer FROM jobs WHERE jobs.id = known.job_id OFFSET 0) AS jobs WHERE jobs.status = 'processing'
), counted AS MATERIALIZED (
    SELECT account_id, count(*) AS jobs FROM processing GROUP BY account_id
)
SELECT account_queues.account_id FROM account_queues LEFT JOIN counted ON counted.account_id = account_queues.account_id
WHERE account_queues.processing <> coalesce(counted.jobs, 0)
UNION
SELECT account_queues.account_id FROM account_queues LEFT JOIN (
    SELECT account_id, sum(leased_frames) AS frames FROM open_jobs GROUP BY account_id
) AS leased ON leased.account_id = account_queues.account_id
WHERE account_queues.leased_frames <> coalesce(leased.frames, 0)
UNION
SELECT processing.account_id FROM processing CROSS JOIN LATERAL (
    SELECT count(*) AS tasks, coalesce(sum(frame_count) FILTER (WHERE status = 'leased'), 0) AS leased_frames,
        coalesce(sum(frame_count) FILTER (WHERE kind = 'render' AND status IN ('pending', 'leased')), 0) AS open_frames,
        count(*) FILTER (WHERE kind = 'render' AND status = 'pending') AS waiting,
        count(*) FILTER (WHERE kind = 'render' AND status = 'leased') AS running,
        count(*) FILTER (WHERE kind = 'assemble' AND status = 'pending') AS assemblies
    FROM tasks WHERE tasks.job_id = processing.id
) AS sums LEFT JOIN LATERAL (SELECT * FROM open_jobs WHERE open_jobs.job_id = processing.id LIMIT 1) AS kept ON true
WHERE sums.tasks > 0 AND (kept.leased_frames, kept.open_frames, kept.waiting, kept.running, kept.assemblies)
    IS DISTINCT FROM (sums.leased_frames, sums.open_frames, sums.waiting, sums.running, sums.assemblies)
    OR (kept.renderer IS NOT NULL AND kept.renderer IS DISTINCT FROM processing.renderer)

-- add_queue_rows --
INSERT INTO account_queues (account_id, priority, held)
SELECT id, priority, paused_at IS NOT NULL OR suspended_at IS NOT NULL FROM accounts WHERE id = ANY(:account_ids) ORDER BY id
ON CONFLICT (account_id) DO NOTHING

-- queue_differences --
-- Return the corrections of accounts' counts. It reads all their jobs and locks nothing, so writers change the counts
-- meanwhile.
SELECT queue.account_id, coalesce(sums.queued, 0) - queue.queued AS queued, coalesce(sums.processing, 0) - queue.processing AS processing,
    coalesce(sums.completed, 0) - queue.completed AS completed, coalesce(sums.failed, 0) - queue.failed AS failed,
    coalesce(sums.cancelled, 0) - queue.cancelled AS cancelled, coalesce(sums.reserved_ms, 0) - queue.reserved_ms AS reserved_ms,
    coalesce(charged.bytes, 0) - queue.stored_bytes AS stored_bytes
FROM account_queues AS queue LEFT JOIN (
    SELECT account_id, count(*) FILTER (WHERE status = 'queued') AS queued, count(*) FILTER (WHERE status = 'processing') AS processing,
        count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed,
        count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
        CAST(sum(reserved_ms) FILTER (WHERE status IN ('queued', 'processing')) AS bigint) AS reserved_ms
    FROM jobs WHERE account_id = ANY(:account_ids) GROUP BY account_id
) AS sums ON sums.account_id = queue.account_id
LEFT JOIN (
    SELECT account_id, CAST(sum(bytes) AS bigint) AS bytes FROM object_charges WHERE account_id = ANY(:account_ids) GROUP BY account_id
) AS charged ON charged.account_id = queue.account_id
WHERE queue.account_id = ANY(:account_ids)

-- lock_queues --
SELECT account_id FROM account_queues WHERE account_id = ANY(:account_ids) ORDER BY account_id FOR NO KEY UPDATE

-- change_queues --
UPDATE account_queues AS queue SET queued = queue.queued + change.queued, processing = queue.processing + change.processing,
    completed = queue.completed + change.completed, failed = queue.failed + change.failed, cancelled = queue.cancelled + change.cancelled,
    reserved_ms = queue.reserved_ms + change.reserved_ms, stored_bytes = queue.stored_bytes + change.stored_bytes
FROM unnest(CAST(:account_ids AS text[]), CAST(:queued AS bigint[]), CAST(:processing AS bigint[]), CAST(:completed AS bigint[]),
    CAST(:failed AS bigint[]), CAST(:cancelled AS bigint[]), CAST(:reserved_ms AS bigint[]), CAST(:stored_bytes AS bigint[]))
    AS change(account_id, queued, processing, completed, failed, cancelled, reserved_ms, stored_bytes)
WHERE queue.account_id = change.account_id

-- rebuild_waiting_jobs --
-- Rebuild the queued and held jobs of accounts whose queue rows the transaction has locked.
WITH gone AS (
    DELETE FROM waiting_jobs WHERE account_id = ANY(:account_ids) AND NOT EXISTS (
        SELECT 1 FROM jobs WHERE jobs.id = waiting_jobs.job_id AND jobs.status = 'queued'
            AND job_place(jobs.created_at, jobs.reserved_ms, jobs.priority) = waiting_jobs.place)
), freed AS (
    DELETE FROM held_jobs WHERE account_id = ANY(:account_ids) AND NOT EXISTS (
        SELECT 1 FROM jobs WHERE jobs.id = held_jobs.job_id AND jobs.lease_expires_at IS NOT NULL)
), held AS (
    INSERT INTO held_jobs (job_id, account_id, lease_expires_at)
    SELECT id, account_id, lease_expires_at FROM jobs
    WHERE account_id = ANY(:account_ids) AND finished_at IS NULL AND lease_expires_at IS NOT NULL
    ON CONFLICT (job_id) DO UPDATE SET lease_expires_at = excluded.lease_expires_at
)
INSERT INTO waiting_jobs (account_id, place, job_id, created_at)
SELECT account_id, job_place(created_at, reserved_ms, priority), id, created_at FROM jobs
WHERE account_id = ANY(:account_ids) AND finished_at IS NULL AND status = 'queued'
ON CONFLICT DO NOTHING

-- rebuild_open_jobs --
-- Rebuild the open jobs of accounts whose queue rows the transaction has locked. Writers of tasks wait for that lock
-- first.
WITH processing AS MATERIALIZED (
    SELECT jobs.* FROM (
        SELECT job_id FROM open_jobs UNION SELECT job_id FROM tasks WHERE status = 'pending' UNION SELECT job_id FROM tasks WHERE status = 'leased'
        UNION SELECT job_id FROM held_jobs
    ) AS known CROSS JOIN LATERAL (SELECT id, account_id, status, created_at, priority, fps, renderer FROM jobs WHERE jobs.id = known.job_id OFFSET 0) AS jobs WHERE jobs.status = 'processing'
), summed AS MATERIALIZED (
    SELECT processing.id, processing.account_id, job_base(processing.created_at, processing.priority) AS base, processing.fps, processing.renderer, sums.*
    FROM processing CROSS JOIN LATERAL (
        SELECT count(*) AS tasks, coalesce(sum(frame_count) FILTER (WHERE status = 'leased'), 0) AS leased_frames,
            coalesce(sum(frame_count) FILTER (WHERE kind = 'render' AND status IN ('pending', 'leased')), 0) AS open_frames,
            count(*) FILTER (WHERE kind = 'render' AND status = 'pending') AS waiting,
            count(*) FILTER (WHERE kind = 'render' AND status = 'leased') AS running,
            count(*) FILTER (WHERE kind = 'assemble' AND status = 'pending') AS assemblies,
            coalesce(sum(CAST(report ->> 'seconds' AS double precision)) FILTER (WHERE kind = 'render' AND status = 'done'), 0)
                AS spent_seconds
        FROM tasks WHERE tasks.job_id = processing.id
    ) AS sums WHERE processing.account_id = ANY(:account_ids) AND sums.tasks > 0
), gone AS (
    DELETE FROM open_jobs WHERE account_id = ANY(:account_ids) AND NOT EXISTS (SELECT 1 FROM summed WHERE summed.id = open_jobs.job_id)
), kept AS (
    INSERT INTO open_jobs (job_id, account_id, base, fps, renderer, leased_frames, open_frames, waiting, running, assemblies, spent_seconds)
    SELECT id, account_id, base, fps, renderer, leased_frames, open_frames, waiting, running, assemblies, spent_seconds FROM summed
    ON CONFLICT (job_id) DO UPDATE SET base = excluded.base, renderer = excluded.renderer, leased_frames = excluded.leased_frames,
        open_frames = excluded.open_frames, waiting = excluded.waiting, running = excluded.running,
        assemblies = excluded.assemblies, spent_seconds = excluded.spent_seconds
)
UPDATE account_queues SET leased_frames = coalesce((
    SELECT sum(summed.leased_frames) FROM summed WHERE summed.account_id = account_queues.account_id
), 0) WHERE account_id = ANY(:account_ids)

-- point_queues --
-- Find each account's next job and most urgent open job again, with the function of the triggers.
SELECT add_to_account_queues(array_agg(id), array_agg(CAST('queued' AS text)), array_agg(0), array_agg(CAST(0 AS bigint)))
FROM unnest(CAST(:account_ids AS text[])) AS wanted(id)
