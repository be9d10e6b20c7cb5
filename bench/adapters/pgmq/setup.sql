-- The queue that every workload uses. PGMQ's own SQL is installed before this runs.
select pgmq.create('bench');
