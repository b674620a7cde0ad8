-- Replaces the function of queues.sql that counts tasks whose status changes: a lease and a result are the most frequent writes of
-- the farm. It reads each changed task once and sums the difference between its two statuses.

CREATE OR REPLACE FUNCTION count_moved_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    job_ids text[]; account_ids text[]; leased bigint[]; opened bigint[]; waits bigint[]; runs bigint[]; assembling bigint[];
BEGIN
    SELECT array_agg(sums.job_id), array_agg(jobs.account_id), array_agg(sums.leased), array_agg(sums.opened),
        array_agg(sums.waits), array_agg(sums.runs), array_agg(sums.assembling)
    INTO job_ids, account_ids, leased, opened, waits, runs, assembling
    FROM (
        SELECT job_id, sum(frame_count * lease) AS leased, sum(CASE WHEN is_segment THEN frame_count * (lease + wait) ELSE 0 END) AS opened,
            sum(CASE WHEN is_segment THEN wait ELSE 0 END) AS waits, sum(CASE WHEN is_segment THEN lease ELSE 0 END) AS runs,
            sum(CASE WHEN is_segment THEN 0 ELSE wait END) AS assembling
        FROM (
            SELECT new_tasks.job_id, new_tasks.frame_count, new_tasks.kind = 'render' AS is_segment,
                (new_tasks.status = 'leased')::int - (old_tasks.status = 'leased')::int AS lease,
                (new_tasks.status = 'pending')::int - (old_tasks.status = 'pending')::int AS wait
            FROM old_tasks JOIN new_tasks USING (id) WHERE old_tasks.status <> new_tasks.status
        ) AS change
        WHERE lease <> 0 OR wait <> 0 GROUP BY job_id
    ) AS sums JOIN jobs ON jobs.id = sums.job_id;
    IF job_ids IS NOT NULL THEN
        PERFORM add_to_open_jobs(job_ids, account_ids, leased, opened, waits, runs, assembling);
    END IF;
    RETURN NULL;
END $$;
