-- What the database says: messages sent, and messages finished.
select (select case when is_called then last_value else 0 end from river_job_id_seq) as sent,
    (select count(*) from river_job where state = 'completed') as done
