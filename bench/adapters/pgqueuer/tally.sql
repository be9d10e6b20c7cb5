-- What the database says: messages sent, and messages finished, which are deleted.
select case when is_called then last_value else 0 end as sent,
    case when is_called then last_value else 0 end - (select count(*) from pgqueuer) as done
from pgqueuer_id_seq
