-- The queue that every workload uses. The engine is installed by internal/migrate before this runs.
select weir.create_queue('bench');
