-- What the database says: messages sent, and messages finished, as awa's own view of its tables counts them.
select s.sent, s.sent - (select count(*) from awa.jobs where state not in ('completed', 'cancelled', 'failed')) as done
from (
    select coalesce(sum(last_value), 0)::bigint as sent from pg_sequences
    where sequencename in ('job_id_seq', 'jobs_id_seq')) s
