-- Functions and triggers that keep account_queues and open_jobs.
--
-- Lock order: accounts, jobs, tasks, usage, account_queues. The triggers run at the end of a statement, so a statement locks the
-- rows of account_queues last, in the order of their keys. Rows of open_jobs are written only under the lock of their account's
-- row. A transaction must not touch jobs of further accounts after such a statement.
--
-- The functions that look for an account's next job forbid sorts and scans of whole tables: with statistics from before a bulk load
-- the planner would sort the account's queue instead of following the index that has its order.

CREATE FUNCTION job_base(created_at timestamptz, priority int) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT date_part('epoch', created_at AT TIME ZONE 'UTC') - 86400.0 * priority
$$;

-- A row for every account, with its priority and whether it is held.
CREATE FUNCTION keep_account_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_queues (account_id, priority, held)
    VALUES (NEW.id, NEW.priority, NEW.paused_at IS NOT NULL OR NEW.suspended_at IS NOT NULL)
    ON CONFLICT (account_id) DO UPDATE SET priority = excluded.priority, held = excluded.held;
    RETURN NULL;
END $$;

CREATE TRIGGER accounts_queue AFTER INSERT OR UPDATE OF priority, paused_at, suspended_at ON accounts
    FOR EACH ROW EXECUTE FUNCTION keep_account_queue();

-- Adds a statement's changes of jobs (+1 for a new state, -1 for a former one; reserved times likewise) to the counts of their accounts, and finds each
-- account's next job and most pressing open job anew.
CREATE FUNCTION add_to_account_queues(
    account_ids text[], statuses text[], signs int[], reserved bigint[]
) RETURNS void LANGUAGE plpgsql
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    UPDATE account_queues AS queue SET
        queued = queue.queued + sums.queued, processing = queue.processing + sums.processing,
        completed = queue.completed + sums.completed, failed = queue.failed + sums.failed,
        cancelled = queue.cancelled + sums.cancelled, reserved_ms = queue.reserved_ms + sums.reserved_ms,
        next_created_at = next_job.created_at, next_job_id = next_job.id, ready_place = next_ready.ready_place
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
        SELECT jobs.created_at, jobs.id FROM jobs WHERE jobs.account_id = sums.account_id AND jobs.status = 'queued'
        ORDER BY (date_part('epoch', jobs.created_at AT TIME ZONE 'UTC') + jobs.reserved_ms / 1000.0::double precision
            - 86400.0::double precision * jobs.priority), jobs.id LIMIT 1
    ) AS next_job ON true
    LEFT JOIN LATERAL (
        SELECT open_jobs.ready_place FROM open_jobs
        WHERE open_jobs.account_id = sums.account_id AND open_jobs.ready_place IS NOT NULL
        ORDER BY open_jobs.ready_place, open_jobs.job_id LIMIT 1
    ) AS next_ready ON true
    WHERE queue.account_id = sums.account_id;
END $$;

CREATE FUNCTION count_new_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE account_ids text[]; statuses text[]; signs int[]; reserved bigint[];
BEGIN
    SELECT array_agg(account_id), array_agg(status), array_agg(jobs), array_agg(reserved_ms)
    INTO account_ids, statuses, signs, reserved FROM (
        SELECT account_id, status, count(*)::int AS jobs, sum(reserved_ms)::bigint AS reserved_ms
        FROM new_jobs GROUP BY account_id, status
    ) AS change;
    IF account_ids IS NOT NULL THEN
        PERFORM add_to_account_queues(account_ids, statuses, signs, reserved);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION count_gone_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE account_ids text[]; statuses text[]; signs int[]; reserved bigint[];
BEGIN
    SELECT array_agg(account_id), array_agg(status), array_agg(-jobs), array_agg(-reserved_ms)
    INTO account_ids, statuses, signs, reserved FROM (
        SELECT account_id, status, count(*)::int AS jobs, sum(reserved_ms)::bigint AS reserved_ms
        FROM old_jobs GROUP BY account_id, status
    ) AS change;
    IF account_ids IS NOT NULL THEN
        PERFORM add_to_account_queues(account_ids, statuses, signs, reserved);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION count_moved_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE account_ids text[]; statuses text[]; signs int[]; reserved bigint[];
BEGIN
    SELECT array_agg(account_id), array_agg(status), array_agg(sign), array_agg(reserved_ms)
    INTO account_ids, statuses, signs, reserved FROM (
        SELECT change.* FROM old_jobs JOIN new_jobs USING (id) CROSS JOIN LATERAL (VALUES
            (old_jobs.account_id, old_jobs.status, -1, -old_jobs.reserved_ms),
            (new_jobs.account_id, new_jobs.status, 1, new_jobs.reserved_ms)
        ) AS change(account_id, status, sign, reserved_ms)
        WHERE (old_jobs.status, old_jobs.priority, old_jobs.reserved_ms)
            IS DISTINCT FROM (new_jobs.status, new_jobs.priority, new_jobs.reserved_ms)
    ) AS change;
    IF account_ids IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    DELETE FROM open_jobs USING new_jobs
    WHERE open_jobs.job_id = new_jobs.id AND new_jobs.status NOT IN ('queued', 'processing');
    UPDATE open_jobs SET base = job_base(new_jobs.created_at, new_jobs.priority)
    FROM new_jobs WHERE open_jobs.job_id = new_jobs.id
        AND open_jobs.base IS DISTINCT FROM job_base(new_jobs.created_at, new_jobs.priority);
    PERFORM add_to_account_queues(account_ids, statuses, signs, reserved);
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_inserted AFTER INSERT ON jobs REFERENCING NEW TABLE AS new_jobs
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_jobs();
CREATE TRIGGER jobs_updated AFTER UPDATE ON jobs REFERENCING OLD TABLE AS old_jobs NEW TABLE AS new_jobs
    FOR EACH STATEMENT EXECUTE FUNCTION count_moved_jobs();
CREATE TRIGGER jobs_deleted AFTER DELETE ON jobs REFERENCING OLD TABLE AS old_jobs
    FOR EACH STATEMENT EXECUTE FUNCTION count_gone_jobs();

-- Adds a statement's changes of tasks, summed by job, to open_jobs and to the frames in flight of their accounts. Jobs that have
-- ended have no row in open_jobs any more.
CREATE FUNCTION add_to_open_jobs(
    job_ids text[], account_ids text[], leased bigint[], opened bigint[], waits bigint[], runs bigint[], assembling bigint[]
) RETURNS void LANGUAGE plpgsql
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    UPDATE open_jobs SET leased_frames = open_jobs.leased_frames + change.leased,
        open_frames = open_jobs.open_frames + change.opened, waiting = open_jobs.waiting + change.waits,
        running = open_jobs.running + change.runs, assemblies = open_jobs.assemblies + change.assembling
    FROM unnest(job_ids, leased, opened, waits, runs, assembling) AS change(job_id, leased, opened, waits, runs, assembling)
    WHERE open_jobs.job_id = change.job_id;
    UPDATE account_queues AS queue SET leased_frames = queue.leased_frames + sums.leased, ready_place = next_ready.ready_place
    FROM (
        SELECT change.account_id, sum(change.leased)::bigint AS leased
        FROM unnest(account_ids, leased) AS change(account_id, leased) GROUP BY change.account_id
    ) AS sums
    LEFT JOIN LATERAL (
        SELECT open_jobs.ready_place FROM open_jobs
        WHERE open_jobs.account_id = sums.account_id AND open_jobs.ready_place IS NOT NULL
        ORDER BY open_jobs.ready_place, open_jobs.job_id LIMIT 1
    ) AS next_ready ON true
    WHERE queue.account_id = sums.account_id
        AND (sums.leased <> 0 OR queue.ready_place IS DISTINCT FROM next_ready.ready_place);
END $$;

CREATE FUNCTION count_new_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(jobs.account_id), array_agg(sums.leased), array_agg(sums.opened),
        array_agg(sums.waits), array_agg(sums.runs), array_agg(sums.assembling)
    INTO job_ids, account_ids, leased, opened, waits, runs, assembling
    FROM (
        SELECT job_id, coalesce(sum(sign * frame_count) FILTER (WHERE status = 'leased'), 0) AS leased,
            coalesce(sum(sign * frame_count) FILTER (WHERE kind = 'render' AND status IN ('pending', 'leased')), 0) AS opened,
            coalesce(sum(sign) FILTER (WHERE kind = 'render' AND status = 'pending'), 0) AS waits,
            coalesce(sum(sign) FILTER (WHERE kind = 'render' AND status = 'leased'), 0) AS runs,
            coalesce(sum(sign) FILTER (WHERE kind = 'assemble' AND status = 'pending'), 0) AS assembling
        FROM (SELECT *, 1 AS sign FROM new_tasks) AS change
        GROUP BY job_id
    ) AS sums JOIN jobs ON jobs.id = sums.job_id;
    IF job_ids IS NOT NULL THEN
        PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
        INSERT INTO open_jobs (job_id, account_id, base, fps)
        SELECT id, account_id, job_base(created_at, priority), fps FROM jobs WHERE id = ANY (job_ids) AND status = 'processing'
        ON CONFLICT (job_id) DO NOTHING;
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION count_gone_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(jobs.account_id), array_agg(sums.leased), array_agg(sums.opened),
        array_agg(sums.waits), array_agg(sums.runs), array_agg(sums.assembling)
    INTO job_ids, account_ids, leased, opened, waits, runs, assembling
    FROM (
        SELECT job_id, coalesce(sum(sign * frame_count) FILTER (WHERE status = 'leased'), 0) AS leased,
            coalesce(sum(sign * frame_count) FILTER (WHERE kind = 'render' AND status IN ('pending', 'leased')), 0) AS opened,
            coalesce(sum(sign) FILTER (WHERE kind = 'render' AND status = 'pending'), 0) AS waits,
            coalesce(sum(sign) FILTER (WHERE kind = 'render' AND status = 'leased'), 0) AS runs,
            coalesce(sum(sign) FILTER (WHERE kind = 'assemble' AND status = 'pending'), 0) AS assembling
        FROM (SELECT *, -1 AS sign FROM old_tasks) AS change
        WHERE status IN ('pending', 'leased') GROUP BY job_id
    ) AS sums JOIN jobs ON jobs.id = sums.job_id;
    IF job_ids IS NOT NULL THEN
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION count_moved_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(jobs.account_id), array_agg(sums.leased), array_agg(sums.opened),
        array_agg(sums.waits), array_agg(sums.runs), array_agg(sums.assembling)
    INTO job_ids, account_ids, leased, opened, waits, runs, assembling
    FROM (
        SELECT job_id, coalesce(sum(sign * frame_count) FILTER (WHERE status = 'leased'), 0) AS leased,
            coalesce(sum(sign * frame_count) FILTER (WHERE kind = 'render' AND status IN ('pending', 'leased')), 0) AS opened,
            coalesce(sum(sign) FILTER (WHERE kind = 'render' AND status = 'pending'), 0) AS waits,
            coalesce(sum(sign) FILTER (WHERE kind = 'render' AND status = 'leased'), 0) AS runs,
            coalesce(sum(sign) FILTER (WHERE kind = 'assemble' AND status = 'pending'), 0) AS assembling
        FROM (
            SELECT change.* FROM old_tasks JOIN new_tasks USING (id) CROSS JOIN LATERAL (VALUES
                (old_tasks.job_id, old_tasks.kind, old_tasks.status, old_tasks.frame_count, -1),
                (new_tasks.job_id, new_tasks.kind, new_tasks.status, new_tasks.frame_count, 1)
            ) AS change(job_id, kind, status, frame_count, sign)
            WHERE old_tasks.status <> new_tasks.status
        ) AS change
        WHERE status IN ('pending', 'leased') GROUP BY job_id
    ) AS sums JOIN jobs ON jobs.id = sums.job_id;
    IF job_ids IS NOT NULL THEN
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER tasks_inserted AFTER INSERT ON tasks REFERENCING NEW TABLE AS new_tasks
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_tasks();
CREATE TRIGGER tasks_updated AFTER UPDATE ON tasks REFERENCING OLD TABLE AS old_tasks NEW TABLE AS new_tasks
    FOR EACH STATEMENT EXECUTE FUNCTION count_moved_tasks();
CREATE TRIGGER tasks_deleted AFTER DELETE ON tasks REFERENCING OLD TABLE AS old_tasks
    FOR EACH STATEMENT EXECUTE FUNCTION count_gone_tasks();

-- What was there before the triggers.
INSERT INTO queue_state (id) VALUES (1);
INSERT INTO account_queues (account_id, queued, processing, completed, failed, cancelled, reserved_ms)
SELECT accounts.id, coalesce(sums.queued, 0), coalesce(sums.processing, 0), coalesce(sums.completed, 0),
    coalesce(sums.failed, 0), coalesce(sums.cancelled, 0), coalesce(sums.reserved_ms, 0)
FROM accounts LEFT JOIN (
    SELECT account_id, count(*) FILTER (WHERE status = 'queued') AS queued,
        count(*) FILTER (WHERE status = 'processing') AS processing, count(*) FILTER (WHERE status = 'completed') AS completed,
        count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
        sum(reserved_ms) FILTER (WHERE status IN ('queued', 'processing')) AS reserved_ms
    FROM jobs GROUP BY account_id
) AS sums ON sums.account_id = accounts.id;
INSERT INTO open_jobs (job_id, account_id, base, fps, leased_frames, open_frames, waiting, running, assemblies)
SELECT jobs.id, jobs.account_id, job_base(jobs.created_at, jobs.priority), jobs.fps,
    coalesce(sum(tasks.frame_count) FILTER (WHERE tasks.status = 'leased'), 0),
    coalesce(sum(tasks.frame_count) FILTER (WHERE tasks.kind = 'render'), 0),
    count(*) FILTER (WHERE tasks.kind = 'render' AND tasks.status = 'pending'),
    count(*) FILTER (WHERE tasks.kind = 'render' AND tasks.status = 'leased'),
    count(*) FILTER (WHERE tasks.kind = 'assemble' AND tasks.status = 'pending')
FROM jobs JOIN tasks ON tasks.job_id = jobs.id AND tasks.status IN ('pending', 'leased')
WHERE jobs.status = 'processing' GROUP BY jobs.id;
UPDATE account_queues AS queue SET leased_frames = sums.leased_frames
FROM (SELECT account_id, sum(leased_frames) AS leased_frames FROM open_jobs GROUP BY account_id) AS sums
WHERE queue.account_id = sums.account_id;
SELECT add_to_account_queues(array_agg(id), array_agg('queued'::text), array_agg(0), array_agg(0::bigint)) FROM accounts;
