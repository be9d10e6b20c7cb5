-- What the database says: messages sent, and messages finished, which are deleted.
select coalesce(pg_sequence_last_value('delayed_jobs_id_seq'), 0) as sent,
    coalesce(pg_sequence_last_value('delayed_jobs_id_seq'), 0) - (select count(*) from delayed_jobs) as done
