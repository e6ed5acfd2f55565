-- Who may do what, by roles that the users of the database are made members of: `GRANT perfcheck_writer TO ci`. Repeated, it changes nothing.
DO $$
DECLARE role TEXT;
BEGIN
    FOREACH role IN ARRAY ARRAY['perfcheck_reader', 'perfcheck_writer', 'perfcheck_admin'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
    END LOOP;
END $$;
-- Readers read.
GRANT USAGE ON SCHEMA perfcheck TO perfcheck_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA perfcheck TO perfcheck_reader;
-- Writers send runs besides: they insert, and neither change nor remove what is there.
GRANT perfcheck_reader TO perfcheck_writer;
GRANT INSERT ON perfcheck.workspaces, perfcheck.runs, perfcheck.run_benchmarks, perfcheck.unmeasured, perfcheck.processes, perfcheck.series,
    perfcheck.failures, perfcheck.counts, perfcheck.accepted_steps TO perfcheck_writer;
GRANT UPDATE (label) ON perfcheck.workspaces TO perfcheck_writer;
GRANT EXECUTE ON FUNCTION perfcheck.begin_transfer, perfcheck.process_number TO perfcheck_writer;
-- Admins name runs, accept levels and remove runs as well.
GRANT perfcheck_writer TO perfcheck_admin;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA perfcheck TO perfcheck_admin;
GRANT EXECUTE ON FUNCTION perfcheck.expire_series TO perfcheck_admin;
-- What the tables keep by themselves is nobody's right to change.
REVOKE INSERT, UPDATE, DELETE ON perfcheck.made_by FROM perfcheck_admin;
