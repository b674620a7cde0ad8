-- Keeps the sum of `object_charges.bytes` of each account in `account_queues.stored_bytes`.
--
-- The triggers run at the end of a statement and lock rows of account_queues in the order of their keys, like those of queues.sql.

CREATE FUNCTION add_to_stored_bytes(account_ids text[], changes bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM account_queues WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
    UPDATE account_queues AS queue SET stored_bytes = queue.stored_bytes + change.bytes
    FROM unnest(account_ids, changes) AS change(account_id, bytes) WHERE queue.account_id = change.account_id;
END $$;

CREATE FUNCTION count_object_charges() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE account_ids text[]; changes bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(account_id), array_agg(bytes) INTO account_ids, changes
        FROM (SELECT account_id, sum(bytes)::bigint AS bytes FROM new_charges GROUP BY account_id) AS change;
    ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(account_id), array_agg(-bytes) INTO account_ids, changes
        FROM (SELECT account_id, sum(bytes)::bigint AS bytes FROM old_charges GROUP BY account_id) AS change;
    ELSE
        SELECT array_agg(account_id), array_agg(bytes) INTO account_ids, changes FROM (
            SELECT account_id, sum(bytes)::bigint AS bytes FROM (
                SELECT account_id, bytes FROM new_charges UNION ALL SELECT account_id, -bytes FROM old_charges
            ) AS each GROUP BY account_id HAVING sum(bytes) <> 0
        ) AS change;
    END IF;
    IF account_ids IS NOT NULL THEN
        PERFORM add_to_stored_bytes(account_ids, changes);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER object_charges_inserted AFTER INSERT ON object_charges REFERENCING NEW TABLE AS new_charges
    FOR EACH STATEMENT EXECUTE FUNCTION count_object_charges();
CREATE TRIGGER object_charges_updated AFTER UPDATE ON object_charges REFERENCING OLD TABLE AS old_charges NEW TABLE AS new_charges
    FOR EACH STATEMENT EXECUTE FUNCTION count_object_charges();
CREATE TRIGGER object_charges_deleted AFTER DELETE ON object_charges REFERENCING OLD TABLE AS old_charges
    FOR EACH STATEMENT EXECUTE FUNCTION count_object_charges();

-- What is known of earlier objects: uploads, videos by the events of their completion, presets. Templates count from their next
-- publication on.
INSERT INTO object_charges (account_id, key, bytes) SELECT account_id, storage_key, bytes FROM assets;
INSERT INTO object_charges (account_id, key, bytes)
SELECT DISTINCT ON (jobs.account_id, jobs.video_key) jobs.account_id, jobs.video_key, (job_events.detail ->> 'bytes')::bigint
FROM jobs JOIN job_events ON job_events.job_id = jobs.id
WHERE jobs.status = 'completed' AND job_events.event = 'complete' AND jsonb_typeof(job_events.detail -> 'bytes') = 'number'
ON CONFLICT DO NOTHING;
INSERT INTO object_charges (account_id, key, bytes)
SELECT account_id, 'presets/' || id, octet_length(animation_data::text) FROM presets;
