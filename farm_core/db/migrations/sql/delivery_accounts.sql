-- Rows that the former release writes, and ended ones that an operator has posted again, get their account here.
CREATE FUNCTION name_account_of_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT account_id INTO NEW.account_id FROM jobs WHERE id = NEW.job_id;
    RETURN NEW;
END $$;

CREATE TRIGGER name_account_of_delivery BEFORE INSERT OR UPDATE ON deliveries FOR EACH ROW
WHEN (NEW.account_id IS NULL) EXECUTE FUNCTION name_account_of_delivery();

UPDATE deliveries SET account_id = jobs.account_id FROM jobs WHERE jobs.id = deliveries.job_id AND deliveries.status = 'due';
