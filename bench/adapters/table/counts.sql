-- What the database says: messages sent, messages finished, messages received and not finished: none.
select case when is_called then last_value else 0 end as sent,
    case when is_called then last_value else 0 end - (select count(*) from queue) as consumed, 0::bigint as claimed
from queue_id_seq
