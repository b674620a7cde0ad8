-- Queued jobs and the leases of unplanned ones in tables of their own, waiting_jobs and held_jobs. No index of jobs names a column that
-- a claim changes, so a claim writes the new version of a job into the job's page and leaves its indexes alone.
-- Replaces the functions of queues.sql and moved_jobs.sql that count jobs.
--
-- Lock order as in queues.sql. Rows of waiting_jobs are written only under the lock of their account's row, those of held_jobs by
-- whoever has locked the job.

-- The order of an account's queued jobs, as a moment that never moves: creation and length, less a day for each step of priority.
CREATE FUNCTION job_place(created_at timestamptz, reserved_ms bigint, priority int) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT date_part('epoch', created_at AT TIME ZONE 'UTC') + reserved_ms / 1000.0::double precision - 86400.0::double precision * priority
$$;

-- Adds a statement's changes of jobs (+1 for a new state, -1 for a former one; reserved times likewise) to the counts of their accounts,
-- and finds each account's next job and most pressing open job anew. The caller has locked the accounts' rows.
CREATE OR REPLACE FUNCTION add_to_account_queues(
    account_ids text[], statuses text[], signs int[], reserved bigint[]
) RETURNS void LANGUAGE plpgsql
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    UPDATE account_queues AS queue SET
        queued = queue.queued + sums.queued, processing = queue.processing + sums.processing,
        completed = queue.completed + sums.completed, failed = queue.failed + sums.failed,
        cancelled = queue.cancelled + sums.cancelled, reserved_ms = queue.reserved_ms + sums.reserved_ms,
        next_created_at = next_job.created_at, next_job_id = next_job.job_id, ready_place = next_ready.ready_place
    FROM (
        SELECT account_id, coalesce(sum(sign) FILTER (WHERE status = 'queued'), 0) AS queued,
            coalesce(sum(sign) FILTER (WHERE status = 'processing'), 0) AS processing,
            coalesce(sum(sign) FILTER (WHERE status = 'completed'), 0) AS completed,
            coalesce(sum(sign) FILTER (WHERE status = 'failed'), 0) AS failed,
            coalesce(sum(sign) FILTER (WHERE status = 'cancelled'), 0) AS cancelled,
            coalesce(sum(reserved_ms) FILTER (WHERE status IN ('queued', 'processing')), 0) AS reserved_ms
        FROM unnest(account_ids, statuses, signs, reserved) AS change(account_id, status, sign, reserved_ms)
        GROUP BY account_id
    ) AS sums
    LEFT JOIN LATERAL (
        SELECT waiting_jobs.created_at, waiting_jobs.job_id FROM waiting_jobs
        WHERE waiting_jobs.account_id = sums.account_id ORDER BY waiting_jobs.place, waiting_jobs.job_id LIMIT 1
    ) AS next_job ON true
    LEFT JOIN LATERAL (
        SELECT open_jobs.ready_place FROM open_jobs
        WHERE open_jobs.account_id = sums.account_id AND open_jobs.ready_place IS NOT NULL
        ORDER BY open_jobs.ready_place, open_jobs.job_id LIMIT 1
    ) AS next_ready ON true
    WHERE queue.account_id = sums.account_id;
END $$;

CREATE OR REPLACE FUNCTION count_new_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE account_ids text[]; statuses text[]; signs int[]; reserved bigint[]; any_held boolean;
BEGIN
    SELECT array_agg(account_id), array_agg(status), array_agg(jobs), array_agg(reserved_ms), bool_or(is_held)
    INTO account_ids, statuses, signs, reserved, any_held FROM (
        SELECT account_id, status, count(*)::int AS jobs, sum(reserved_ms)::bigint AS reserved_ms,
            bool_or(lease_expires_at IS NOT NULL) AS is_held
        FROM new_jobs GROUP BY account_id, status
    ) AS change;
    IF account_ids IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    INSERT INTO waiting_jobs (account_id, place, job_id, created_at)
    SELECT account_id, job_place(created_at, reserved_ms, priority), id, created_at FROM new_jobs WHERE status = 'queued'
    ON CONFLICT DO NOTHING;
    IF any_held THEN
        INSERT INTO held_jobs (job_id, account_id, lease_expires_at)
        SELECT id, account_id, lease_expires_at FROM new_jobs WHERE lease_expires_at IS NOT NULL
        ON CONFLICT (job_id) DO UPDATE SET lease_expires_at = excluded.lease_expires_at;
    END IF;
    PERFORM add_to_account_queues(account_ids, statuses, signs, reserved);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION count_gone_jobs() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE account_ids text[]; statuses text[]; signs int[]; reserved bigint[]; any_open boolean;
BEGIN
    SELECT array_agg(account_id), array_agg(status), array_agg(-jobs), array_agg(-reserved_ms), bool_or(status IN ('queued', 'processing'))
    INTO account_ids, statuses, signs, reserved, any_open FROM (
        SELECT account_id, status, count(*)::int AS jobs, sum(reserved_ms)::bigint AS reserved_ms
        FROM old_jobs GROUP BY account_id, status
    ) AS change;
    IF account_ids IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    IF any_open THEN
        DELETE FROM waiting_jobs USING old_jobs
        WHERE waiting_jobs.account_id = old_jobs.account_id AND waiting_jobs.job_id = old_jobs.id
            AND waiting_jobs.place = job_place(old_jobs.created_at, old_jobs.reserved_ms, old_jobs.priority);
        DELETE FROM held_jobs USING old_jobs WHERE held_jobs.job_id = old_jobs.id;
    END IF;
    PERFORM add_to_account_queues(account_ids, statuses, signs, reserved);
    RETURN NULL;
END $$;

-- Each changed job is read once. A claim only takes its jobs out of the queue and holds them: it looks for no rows in open_jobs, which they do not
-- have yet.
CREATE OR REPLACE FUNCTION count_moved_jobs() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    account_ids text[]; former_statuses text[]; statuses text[]; former_reserved bigint[]; reserved bigint[];
    left_accounts text[]; left_places double precision[]; left_ids text[];
    held_ids text[]; held_accounts text[]; held_until timestamptz[]; free_ids text[];
    any_waits boolean; only_claimed boolean;
BEGIN
    SELECT array_agg(account_id) FILTER (WHERE is_counted), array_agg(former_status) FILTER (WHERE is_counted),
        array_agg(status) FILTER (WHERE is_counted), array_agg(-former_reserved_ms) FILTER (WHERE is_counted),
        array_agg(reserved_ms) FILTER (WHERE is_counted),
        array_agg(account_id) FILTER (WHERE leaves), array_agg(former_place) FILTER (WHERE leaves), array_agg(id) FILTER (WHERE leaves),
        array_agg(id) FILTER (WHERE is_held), array_agg(account_id) FILTER (WHERE is_held), array_agg(lease_expires_at) FILTER (WHERE is_held),
        array_agg(id) FILTER (WHERE is_free), coalesce(bool_or(waits), false),
        coalesce(bool_and(former_status = 'queued' AND status IN ('queued', 'processing') AND NOT waits) FILTER (WHERE is_counted), true)
    INTO account_ids, former_statuses, statuses, former_reserved, reserved, left_accounts, left_places, left_ids,
        held_ids, held_accounts, held_until, free_ids, any_waits, only_claimed
    FROM (
        SELECT new_jobs.id, new_jobs.account_id, new_jobs.status, new_jobs.reserved_ms, new_jobs.lease_expires_at,
            old_jobs.status AS former_status, old_jobs.reserved_ms AS former_reserved_ms, places.former_place,
            (old_jobs.status, old_jobs.priority, old_jobs.reserved_ms)
                IS DISTINCT FROM (new_jobs.status, new_jobs.priority, new_jobs.reserved_ms) AS is_counted,
            old_jobs.status = 'queued' AND (new_jobs.status <> 'queued' OR places.former_place <> places.place) AS leaves,
            new_jobs.status = 'queued' AND (old_jobs.status <> 'queued' OR places.former_place <> places.place) AS waits,
            new_jobs.lease_expires_at IS NOT NULL AND new_jobs.lease_expires_at IS DISTINCT FROM old_jobs.lease_expires_at AS is_held,
            new_jobs.lease_expires_at IS NULL AND (old_jobs.lease_expires_at IS NOT NULL
                OR new_jobs.status NOT IN ('queued', 'processing')) AS is_free
        FROM old_jobs JOIN new_jobs USING (id) CROSS JOIN LATERAL (
            SELECT job_place(old_jobs.created_at, old_jobs.reserved_ms, old_jobs.priority) AS former_place,
                job_place(new_jobs.created_at, new_jobs.reserved_ms, new_jobs.priority) AS place
        ) AS places
    ) AS change;
    IF held_ids IS NOT NULL THEN
        INSERT INTO held_jobs (job_id, account_id, lease_expires_at)
        SELECT * FROM unnest(held_ids, held_accounts, held_until)
        ON CONFLICT (job_id) DO UPDATE SET lease_expires_at = excluded.lease_expires_at;
    END IF;
    IF free_ids IS NOT NULL THEN
        DELETE FROM held_jobs WHERE job_id = ANY (free_ids);
    END IF;
    IF account_ids IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    IF left_ids IS NOT NULL THEN
        DELETE FROM waiting_jobs USING unnest(left_accounts, left_places, left_ids) AS gone(account_id, place, job_id)
        WHERE waiting_jobs.account_id = gone.account_id AND waiting_jobs.place = gone.place AND waiting_jobs.job_id = gone.job_id;
    END IF;
    IF any_waits THEN
        INSERT INTO waiting_jobs (account_id, place, job_id, created_at)
        SELECT account_id, job_place(created_at, reserved_ms, priority), id, created_at FROM new_jobs WHERE status = 'queued'
        ON CONFLICT DO NOTHING;
    END IF;
    IF NOT only_claimed THEN
        DELETE FROM open_jobs USING new_jobs
        WHERE open_jobs.job_id = new_jobs.id AND new_jobs.status NOT IN ('queued', 'processing');
        UPDATE open_jobs SET base = job_base(new_jobs.created_at, new_jobs.priority)
        FROM new_jobs WHERE open_jobs.job_id = new_jobs.id
            AND open_jobs.base IS DISTINCT FROM job_base(new_jobs.created_at, new_jobs.priority);
    END IF;
    PERFORM add_to_account_queues(
        account_ids || account_ids, former_statuses || statuses,
        array_fill(-1, ARRAY[cardinality(account_ids)]) || array_fill(1, ARRAY[cardinality(account_ids)]), former_reserved || reserved
    );
    RETURN NULL;
END $$;

-- Replaces the function of spent_seconds.sql: the account of an open job is read from open_jobs, which is small.
CREATE OR REPLACE FUNCTION count_moved_tasks() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
    spent double precision[];
BEGIN
    SELECT array_agg(sums.job_id),
        array_agg(coalesce(open_jobs.account_id, (SELECT jobs.account_id FROM jobs WHERE jobs.id = sums.job_id))), array_agg(sums.leased), array_agg(sums.opened),
        array_agg(sums.waits), array_agg(sums.runs), array_agg(sums.assembling), array_agg(sums.spent)
    INTO job_ids, account_ids, leased, opened, waits, runs, assembling, spent
    FROM (
        SELECT job_id, sum(frame_count * lease) AS leased, sum(CASE WHEN is_segment THEN frame_count * (lease + wait) ELSE 0 END) AS opened,
            sum(CASE WHEN is_segment THEN wait ELSE 0 END) AS waits, sum(CASE WHEN is_segment THEN lease ELSE 0 END) AS runs,
            sum(CASE WHEN is_segment THEN 0 ELSE wait END) AS assembling, sum(CASE WHEN is_segment THEN seconds ELSE 0 END) AS spent
        FROM (
            SELECT new_tasks.job_id, new_tasks.frame_count, new_tasks.kind = 'render' AS is_segment,
                (new_tasks.status = 'leased')::int - (old_tasks.status = 'leased')::int AS lease,
                (new_tasks.status = 'pending')::int - (old_tasks.status = 'pending')::int AS wait,
                CASE WHEN new_tasks.status = 'done' THEN coalesce((new_tasks.report ->> 'seconds')::double precision, 0) ELSE 0 END
                    - CASE WHEN old_tasks.status = 'done' THEN coalesce((old_tasks.report ->> 'seconds')::double precision, 0) ELSE 0 END
                    AS seconds
            FROM old_tasks JOIN new_tasks USING (id) WHERE old_tasks.status <> new_tasks.status
        ) AS change
        WHERE lease <> 0 OR wait <> 0 GROUP BY job_id
    ) AS sums LEFT JOIN open_jobs ON open_jobs.job_id = sums.job_id;
    IF job_ids IS NOT NULL THEN
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling, spent);
    END IF;
    RETURN NULL;
END $$;

-- TRUNCATE of jobs, or of accounts with all that refers to them.
CREATE FUNCTION forget_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM waiting_jobs;
    DELETE FROM held_jobs;
    UPDATE account_queues SET queued = 0, processing = 0, completed = 0, failed = 0, cancelled = 0, reserved_ms = 0,
        next_created_at = NULL, next_job_id = NULL, leased_frames = 0, ready_place = NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_truncated AFTER TRUNCATE ON jobs FOR EACH STATEMENT EXECUTE FUNCTION forget_jobs();

-- What was there before the triggers.
INSERT INTO waiting_jobs (account_id, place, job_id, created_at)
SELECT account_id, job_place(created_at, reserved_ms, priority), id, created_at FROM jobs WHERE status = 'queued';
INSERT INTO held_jobs (job_id, account_id, lease_expires_at)
SELECT id, account_id, lease_expires_at FROM jobs WHERE lease_expires_at IS NOT NULL;
