-- Replaces the function of queues.sql that counts jobs whose status, priority or reserved time changes. A claim moves jobs that have no
-- rows in open_jobs yet: it looks for none, and locks its accounts' rows once.

CREATE OR REPLACE FUNCTION count_moved_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE account_ids text[]; statuses text[]; signs int[]; reserved bigint[]; only_claimed boolean;
BEGIN
    SELECT array_agg(account_id), array_agg(status), array_agg(sign), array_agg(reserved_ms), bool_and(is_claimed)
    INTO account_ids, statuses, signs, reserved, only_claimed FROM (
        SELECT change.*, old_jobs.status = 'queued' AND new_jobs.status IN ('queued', 'processing')
            AND old_jobs.priority = new_jobs.priority AS is_claimed
        FROM old_jobs JOIN new_jobs USING (id) CROSS JOIN LATERAL (VALUES
            (old_jobs.account_id, old_jobs.status, -1, -old_jobs.reserved_ms),
            (new_jobs.account_id, new_jobs.status, 1, new_jobs.reserved_ms)
        ) AS change(account_id, status, sign, reserved_ms)
        WHERE (old_jobs.status, old_jobs.priority, old_jobs.reserved_ms)
            IS DISTINCT FROM (new_jobs.status, new_jobs.priority, new_jobs.reserved_ms)
    ) AS change;
    IF account_ids IS NULL THEN
        RETURN NULL;
    END IF;
    IF NOT only_claimed THEN
        PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
        DELETE FROM open_jobs USING new_jobs
        WHERE open_jobs.job_id = new_jobs.id AND new_jobs.status NOT IN ('queued', 'processing');
        UPDATE open_jobs SET base = job_base(new_jobs.created_at, new_jobs.priority)
        FROM new_jobs WHERE open_jobs.job_id = new_jobs.id
            AND open_jobs.base IS DISTINCT FROM job_base(new_jobs.created_at, new_jobs.priority);
    END IF;
    PERFORM add_to_account_queues(account_ids, statuses, signs, reserved);
    RETURN NULL;
END $$;
