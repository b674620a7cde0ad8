-- Writes each row of open_jobs once where a statement wrote it twice, and each row of account_queues once less at the end of its jobs.
-- Replaces functions of queues.sql, waiting_jobs.sql, spent_seconds.sql and open_jobs_renderers.sql.
--
-- `account_queues.leased_frames` is the sum of `open_jobs.leased_frames` of the account. When a job ends, the frames of its row leave the
-- sum with the row. Therefore changes of tasks count only while their job has a row.
--
-- The triggers keep their plans: for short arrays, Postgres expects new plans to be cheaper, and made them at each call. The setting also
-- applies to the functions that a trigger calls. CREATE OR REPLACE FUNCTION removes it. A plan can be from a time when a table was empty, so
-- rows of jobs and open_jobs are looked up one by one.

DROP FUNCTION add_to_account_queues(text[], text[], int[], bigint[]);

-- As in waiting_jobs.sql. `frames` are changes of the frames in flight, or null.
CREATE FUNCTION add_to_account_queues(
    account_ids text[], statuses text[], signs int[], reserved bigint[], frames bigint[] DEFAULT NULL
) RETURNS void LANGUAGE plpgsql
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    UPDATE account_queues AS queue SET
        queued = queue.queued + sums.queued, processing = queue.processing + sums.processing,
        completed = queue.completed + sums.completed, failed = queue.failed + sums.failed,
        cancelled = queue.cancelled + sums.cancelled, reserved_ms = queue.reserved_ms + sums.reserved_ms,
        leased_frames = queue.leased_frames + sums.frames,
        next_created_at = next_job.created_at, next_job_id = next_job.job_id, ready_place = next_ready.ready_place
    FROM (
        SELECT account_id, coalesce(sum(sign) FILTER (WHERE status = 'queued'), 0) AS queued,
            coalesce(sum(sign) FILTER (WHERE status = 'processing'), 0) AS processing,
            coalesce(sum(sign) FILTER (WHERE status = 'completed'), 0) AS completed,
            coalesce(sum(sign) FILTER (WHERE status = 'failed'), 0) AS failed,
            coalesce(sum(sign) FILTER (WHERE status = 'cancelled'), 0) AS cancelled,
            coalesce(sum(reserved_ms) FILTER (WHERE status IN ('queued', 'processing')), 0) AS reserved_ms,
            coalesce(sum(change.frames), 0) AS frames
        FROM unnest(account_ids, statuses, signs, reserved, frames) AS change(account_id, status, sign, reserved_ms, frames)
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

-- Adds to the frames in flight of accounts, and finds each account's most urgent open job anew. The caller has locked the accounts' rows.
CREATE FUNCTION add_to_leased_frames(account_ids text[], leased bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
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

-- As in spent_seconds.sql.
CREATE OR REPLACE FUNCTION add_to_open_jobs(
    job_ids text[], account_ids text[], leased bigint[], opened bigint[], waits bigint[], runs bigint[], assembling bigint[],
    spent double precision[] DEFAULT NULL
) RETURNS void LANGUAGE plpgsql
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    UPDATE open_jobs SET leased_frames = open_jobs.leased_frames + change.leased,
        open_frames = open_jobs.open_frames + change.opened, waiting = open_jobs.waiting + change.waits,
        running = open_jobs.running + change.runs, assemblies = open_jobs.assemblies + change.assembling,
        spent_seconds = open_jobs.spent_seconds + coalesce(change.spent, 0)
    FROM unnest(job_ids, leased, opened, waits, runs, assembling, spent)
        AS change(job_id, leased, opened, waits, runs, assembling, spent)
    WHERE open_jobs.job_id = change.job_id;
    PERFORM add_to_leased_frames(account_ids, leased);
END $$;

-- Inserts a job's row with the sums of its tasks.
CREATE OR REPLACE FUNCTION count_new_tasks() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    job_ids text[]; account_ids text[]; bases double precision[]; rates double precision[]; renderers text[];
    leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(jobs.account_id), array_agg(job_base(jobs.created_at, jobs.priority)), array_agg(jobs.fps),
        array_agg(jobs.renderer), array_agg(sums.leased), array_agg(sums.opened), array_agg(sums.waits), array_agg(sums.runs),
        array_agg(sums.assembling)
    INTO job_ids, account_ids, bases, rates, renderers, leased, opened, waits, runs, assembling
    FROM (
        SELECT job_id, coalesce(sum(frame_count) FILTER (WHERE status = 'leased'), 0) AS leased,
            coalesce(sum(frame_count) FILTER (WHERE kind = 'render' AND status IN ('pending', 'leased')), 0) AS opened,
            count(*) FILTER (WHERE kind = 'render' AND status = 'pending') AS waits,
            count(*) FILTER (WHERE kind = 'render' AND status = 'leased') AS runs,
            count(*) FILTER (WHERE kind = 'assemble' AND status = 'pending') AS assembling
        FROM new_tasks GROUP BY job_id
    ) AS sums CROSS JOIN LATERAL (
        SELECT account_id, created_at, priority, fps, renderer FROM jobs WHERE jobs.id = sums.job_id AND jobs.status = 'processing' LIMIT 1
    ) AS jobs;
    IF job_ids IS NOT NULL THEN
        PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
        INSERT INTO open_jobs AS job (job_id, account_id, base, fps, renderer, leased_frames, open_frames, waiting, running, assemblies)
        SELECT * FROM unnest(job_ids, account_ids, bases, rates, renderers, leased, opened, waits, runs, assembling)
        ON CONFLICT (job_id) DO UPDATE SET leased_frames = job.leased_frames + excluded.leased_frames,
            open_frames = job.open_frames + excluded.open_frames, waiting = job.waiting + excluded.waiting,
            running = job.running + excluded.running, assemblies = job.assemblies + excluded.assemblies;
        PERFORM add_to_leased_frames(account_ids, leased);
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION count_gone_tasks() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(owner.account_id), array_agg(sums.leased), array_agg(sums.opened),
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
    ) AS sums CROSS JOIN LATERAL (SELECT account_id FROM open_jobs WHERE open_jobs.job_id = sums.job_id LIMIT 1) AS owner;
    IF job_ids IS NOT NULL THEN
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling);
    END IF;
    RETURN NULL;
END $$;

-- As in waiting_jobs.sql. An assembly that ends its job is left to the trigger of jobs, which deletes the job's row.
CREATE OR REPLACE FUNCTION count_moved_tasks() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
    spent double precision[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(owner.account_id), array_agg(sums.leased), array_agg(sums.opened),
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
                AND NOT (new_tasks.kind = 'assemble' AND new_tasks.status = 'done'
                    AND (SELECT jobs.finished_at FROM jobs WHERE jobs.id = new_tasks.job_id) IS NOT NULL)
        ) AS change
        WHERE lease <> 0 OR wait <> 0 GROUP BY job_id
    ) AS sums CROSS JOIN LATERAL (SELECT account_id FROM open_jobs WHERE open_jobs.job_id = sums.job_id LIMIT 1) AS owner;
    IF job_ids IS NOT NULL THEN
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling, spent);
    END IF;
    RETURN NULL;
END $$;

-- As in open_jobs_renderers.sql. Tables are only written for changes that concern them.
CREATE OR REPLACE FUNCTION count_moved_jobs() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    account_ids text[]; former_statuses text[]; statuses text[]; former_reserved bigint[]; reserved bigint[];
    left_accounts text[]; left_places double precision[]; left_ids text[];
    held_ids text[]; held_accounts text[]; held_until timestamptz[]; free_ids text[];
    unpinned_ids text[]; gone_accounts text[]; gone_frames bigint[]; gone int; any_waits boolean; any_ends boolean; any_rebased boolean;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM new_jobs) THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(account_id) FILTER (WHERE is_counted), array_agg(former_status) FILTER (WHERE is_counted),
        array_agg(status) FILTER (WHERE is_counted), array_agg(-former_reserved_ms) FILTER (WHERE is_counted),
        array_agg(reserved_ms) FILTER (WHERE is_counted),
        array_agg(account_id) FILTER (WHERE leaves), array_agg(former_place) FILTER (WHERE leaves), array_agg(id) FILTER (WHERE leaves),
        array_agg(id) FILTER (WHERE is_held), array_agg(account_id) FILTER (WHERE is_held), array_agg(lease_expires_at) FILTER (WHERE is_held),
        array_agg(id) FILTER (WHERE is_free), array_agg(id) FILTER (WHERE is_unpinned), coalesce(bool_or(waits), false),
        coalesce(bool_or(status NOT IN ('queued', 'processing')) FILTER (WHERE is_counted), false), coalesce(bool_or(is_rebased), false)
    INTO account_ids, former_statuses, statuses, former_reserved, reserved, left_accounts, left_places, left_ids,
        held_ids, held_accounts, held_until, free_ids, unpinned_ids, any_waits, any_ends, any_rebased
    FROM (
        SELECT new_jobs.id, new_jobs.account_id, new_jobs.status, new_jobs.reserved_ms, new_jobs.lease_expires_at,
            old_jobs.status AS former_status, old_jobs.reserved_ms AS former_reserved_ms, places.former_place,
            (old_jobs.status, old_jobs.priority, old_jobs.reserved_ms)
                IS DISTINCT FROM (new_jobs.status, new_jobs.priority, new_jobs.reserved_ms) OR old_jobs.renderer <> new_jobs.renderer
                OR (old_jobs.renderer IS NOT NULL AND new_jobs.renderer IS NULL) AS is_counted,
            old_jobs.renderer <> new_jobs.renderer OR (old_jobs.renderer IS NOT NULL AND new_jobs.renderer IS NULL) AS is_unpinned,
            old_jobs.status = 'queued' AND (new_jobs.status <> 'queued' OR places.former_place <> places.place) AS leaves,
            new_jobs.status = 'queued' AND (old_jobs.status <> 'queued' OR places.former_place <> places.place) AS waits,
            new_jobs.lease_expires_at IS NOT NULL AND new_jobs.lease_expires_at IS DISTINCT FROM old_jobs.lease_expires_at AS is_held,
            new_jobs.lease_expires_at IS NULL AND old_jobs.lease_expires_at IS NOT NULL AS is_free,
            (old_jobs.created_at, old_jobs.priority) IS DISTINCT FROM (new_jobs.created_at, new_jobs.priority) AS is_rebased
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
    IF any_ends THEN
        WITH gone AS (
            DELETE FROM open_jobs USING new_jobs
            WHERE open_jobs.job_id = new_jobs.id AND new_jobs.status NOT IN ('queued', 'processing')
            RETURNING open_jobs.account_id, open_jobs.leased_frames
        )
        SELECT array_agg(account_id), array_agg(-leased_frames) INTO gone_accounts, gone_frames FROM gone;
    END IF;
    IF any_rebased THEN
        UPDATE open_jobs SET base = job_base(new_jobs.created_at, new_jobs.priority)
        FROM new_jobs WHERE open_jobs.job_id = new_jobs.id
            AND open_jobs.base IS DISTINCT FROM job_base(new_jobs.created_at, new_jobs.priority);
    END IF;
    IF unpinned_ids IS NOT NULL THEN
        UPDATE open_jobs SET renderer = NULL WHERE job_id = ANY (unpinned_ids) AND renderer IS NOT NULL;
    END IF;
    gone := coalesce(cardinality(gone_accounts), 0);
    PERFORM add_to_account_queues(
        gone_accounts || account_ids || account_ids, array_fill(NULL::text, ARRAY[gone]) || former_statuses || statuses,
        array_fill(0, ARRAY[gone]) || array_fill(-1, ARRAY[cardinality(account_ids)]) || array_fill(1, ARRAY[cardinality(account_ids)]),
        array_fill(0::bigint, ARRAY[gone]) || former_reserved || reserved, gone_frames
    );
    RETURN NULL;
END $$;

ALTER FUNCTION count_new_jobs SET plan_cache_mode = force_generic_plan SET enable_seqscan = off;
ALTER FUNCTION count_gone_jobs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION count_object_charges SET plan_cache_mode = force_generic_plan SET enable_seqscan = off;
