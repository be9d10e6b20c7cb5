-- What the database says: messages sent, and messages finished, which are deleted.
select s.sent, s.sent - (select count(*) from graphile_worker._private_jobs) as done
from (
    select coalesce(pg_sequence_last_value(pg_get_serial_sequence('graphile_worker._private_jobs', 'id')), 0) as sent
) s
