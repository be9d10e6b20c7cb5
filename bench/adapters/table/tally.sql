-- What the database says: messages sent, and messages finished.
select case when is_called then last_value else 0 end as sent,
    case when is_called then last_value else 0 end - (select count(*) from queue) as done
from queue_id_seq
