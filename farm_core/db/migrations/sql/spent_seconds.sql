-- Keeps the seconds that a job's finished segments took in `open_jobs.spent_seconds`: a lease reads the sum and not the segments.
-- Replaces the functions of queues.sql and task_counts.sql that sum the changes of tasks.

DROP FUNCTION add_to_open_jobs(text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[]);

-- Adds a statement's changes of tasks, summed by job, to open_jobs and to the frames in flight of their accounts. Jobs that have
-- ended have no row in open_jobs any more.
CREATE FUNCTION add_to_open_jobs(
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

CREATE OR REPLACE FUNCTION count_moved_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
    spent double precision[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(jobs.account_id), array_agg(sums.leased), array_agg(sums.opened),
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
    ) AS sums JOIN jobs ON jobs.id = sums.job_id;
    IF job_ids IS NOT NULL THEN
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling, spent);
    END IF;
    RETURN NULL;
END $$;

UPDATE open_jobs SET spent_seconds = sums.seconds FROM (
    SELECT tasks.job_id, sum((tasks.report ->> 'seconds')::double precision) AS seconds
    FROM open_jobs JOIN tasks ON tasks.job_id = open_jobs.job_id
    WHERE tasks.kind = 'render' AND tasks.status = 'done' AND tasks.report ->> 'seconds' IS NOT NULL GROUP BY tasks.job_id
) AS sums WHERE open_jobs.job_id = sums.job_id;
