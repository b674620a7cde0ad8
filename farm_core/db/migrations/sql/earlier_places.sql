-- Looks up the most urgent job of an account only if one of its jobs became less urgent. Replaces a function of single_writes.sql.
--
-- `account_queues.ready_place` is the smallest `open_jobs.ready_place` of the account, and all writers of these rows hold the lock of the
-- account's row. A lease or the end of a segment leaves the job's place or makes it smaller, so the account's place is the smaller of the
-- former one and the job's. The place is larger if frames of the job are open again, and null if no task can be leased.

CREATE OR REPLACE FUNCTION add_to_open_jobs(
    job_ids text[], account_ids text[], leased bigint[], opened bigint[], waits bigint[], runs bigint[], assembling bigint[],
    spent double precision[] DEFAULT NULL
) RETURNS void LANGUAGE plpgsql
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    places double precision[]; later boolean[];
BEGIN
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    WITH changed AS (
        UPDATE open_jobs SET leased_frames = open_jobs.leased_frames + change.leased,
            open_frames = open_jobs.open_frames + change.opened, waiting = open_jobs.waiting + change.waits,
            running = open_jobs.running + change.runs, assemblies = open_jobs.assemblies + change.assembling,
            spent_seconds = open_jobs.spent_seconds + coalesce(change.spent, 0)
        FROM unnest(job_ids, leased, opened, waits, runs, assembling, spent)
            AS change(job_id, leased, opened, waits, runs, assembling, spent)
        WHERE open_jobs.job_id = change.job_id
        RETURNING open_jobs.account_id, change.leased, open_jobs.ready_place, change.opened
    )
    SELECT array_agg(changed.account_id), array_agg(changed.leased), array_agg(changed.ready_place),
        array_agg(changed.ready_place IS NULL OR changed.opened > 0)
    INTO account_ids, leased, places, later FROM changed;
    UPDATE account_queues AS queue SET leased_frames = queue.leased_frames + sums.leased,
        ready_place = CASE WHEN sums.is_later THEN (
            SELECT open_jobs.ready_place FROM open_jobs
            WHERE open_jobs.account_id = queue.account_id AND open_jobs.ready_place IS NOT NULL
            ORDER BY open_jobs.ready_place, open_jobs.job_id LIMIT 1
        ) ELSE least(queue.ready_place, sums.place) END
    FROM (
        SELECT change.account_id, sum(change.leased)::bigint AS leased, min(change.place) AS place, bool_or(change.is_later) AS is_later
        FROM unnest(account_ids, leased, places, later) AS change(account_id, leased, place, is_later) GROUP BY change.account_id
    ) AS sums
    WHERE queue.account_id = sums.account_id
        AND (sums.leased <> 0 OR sums.is_later OR queue.ready_place IS DISTINCT FROM least(queue.ready_place, sums.place));
END $$;
