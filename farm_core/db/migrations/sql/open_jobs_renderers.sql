-- The renderer of an open job in open_jobs: a dispatch round looks up no jobs. NULL means that jobs has it: the first lease of a job that
-- was planned for any renderer writes it there alone, since it must not lock an account before it locks the others.
-- Replaces the functions of queues.sql and waiting_jobs.sql that make and change rows of open_jobs.

CREATE OR REPLACE FUNCTION count_new_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
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
        INSERT INTO open_jobs (job_id, account_id, base, fps, renderer)
        SELECT id, account_id, job_base(created_at, priority), fps, renderer FROM jobs WHERE id = ANY (job_ids) AND status = 'processing'
        ON CONFLICT (job_id) DO NOTHING;
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling);
    END IF;
    RETURN NULL;
END $$;

-- As in waiting_jobs.sql. A job that loses its renderer, or gets another, is looked up from then on. Most leases change no job.
CREATE OR REPLACE FUNCTION count_moved_jobs() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    account_ids text[]; former_statuses text[]; statuses text[]; former_reserved bigint[]; reserved bigint[];
    left_accounts text[]; left_places double precision[]; left_ids text[];
    held_ids text[]; held_accounts text[]; held_until timestamptz[]; free_ids text[];
    unpinned_ids text[]; any_waits boolean; only_claimed boolean;
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
        coalesce(bool_and(former_status = 'queued' AND status IN ('queued', 'processing') AND NOT waits) FILTER (WHERE is_counted), true)
    INTO account_ids, former_statuses, statuses, former_reserved, reserved, left_accounts, left_places, left_ids,
        held_ids, held_accounts, held_until, free_ids, unpinned_ids, any_waits, only_claimed
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
    IF unpinned_ids IS NOT NULL THEN
        UPDATE open_jobs SET renderer = NULL WHERE job_id = ANY (unpinned_ids) AND renderer IS NOT NULL;
    END IF;
    PERFORM add_to_account_queues(
        account_ids || account_ids, former_statuses || statuses,
        array_fill(-1, ARRAY[cardinality(account_ids)]) || array_fill(1, ARRAY[cardinality(account_ids)]), former_reserved || reserved
    );
    RETURN NULL;
END $$;

UPDATE open_jobs SET renderer = jobs.renderer FROM jobs WHERE jobs.id = open_jobs.job_id AND jobs.renderer IS NOT NULL;
