-- The rights of three roles. Users of the database become members of a role, for example with `GRANT perfcheck_writer TO ci`. This script can be repeated.
DO $$
DECLARE role TEXT;
BEGIN
    FOREACH role IN ARRAY ARRAY['perfcheck_reader', 'perfcheck_writer', 'perfcheck_admin'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
    END LOOP;
END $$;
-- Readers can read everything.
GRANT USAGE ON SCHEMA perfcheck TO perfcheck_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA perfcheck TO perfcheck_reader;
-- Writers can also send runs: they can insert rows, but neither change nor remove existing ones.
GRANT perfcheck_reader TO perfcheck_writer;
GRANT INSERT ON perfcheck.workspaces, perfcheck.runs, perfcheck.run_benchmarks, perfcheck.unmeasured, perfcheck.processes, perfcheck.series,
    perfcheck.failures, perfcheck.counts, perfcheck.accepted_steps TO perfcheck_writer;
GRANT UPDATE (label) ON perfcheck.workspaces TO perfcheck_writer;
GRANT EXECUTE ON FUNCTION perfcheck.begin_transfer, perfcheck.process_number TO perfcheck_writer;
-- Admins can also name runs, accept levels and remove runs.
GRANT perfcheck_writer TO perfcheck_admin;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA perfcheck TO perfcheck_admin;
GRANT EXECUTE ON FUNCTION perfcheck.expire_series TO perfcheck_admin;
-- Nobody may change the row that identifies the store.
REVOKE INSERT, UPDATE, DELETE ON perfcheck.made_by FROM perfcheck_admin;
