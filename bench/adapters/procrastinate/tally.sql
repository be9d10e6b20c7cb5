-- What the database says: messages sent, and messages finished, which are deleted or kept.
select case when is_called then last_value else 0 end as sent,
    case when is_called then last_value else 0 end
        - (select count(*) from procrastinate_jobs where status in ('todo', 'doing')) as done
from procrastinate_jobs_id_seq
