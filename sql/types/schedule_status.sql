-- weir.schedule_status
-- A schedule, as weir.list_schedules returns it.
do $$
begin
    if to_regtype('weir.schedule_status') is null then
        create type weir.schedule_status as (
            name       text,        -- the schedule
            queue_name text,        -- the queue of its jobs
            cron       text,        -- when; null: by every
            every      interval,    -- how often; null: by cron
            time_zone  text,        -- in which cron is meant
            missed     text,        -- what becomes of due times that were missed: 'skip', 'once' or 'all'
            kind       text,        -- of its jobs, as are those that follow
            args       jsonb,       -- their arguments
            key        text,        -- their key
            headers    jsonb,       -- their headers
            priority   int,         -- their priority
            is_unique  boolean,     -- not enqueued while the one before is not finished
            tracked    boolean,     -- what happens to them is kept
            paused     boolean,     -- it is not fired
            next_at    timestamptz, -- the next due time
            last_at    timestamptz, -- the last due time for which a job was enqueued
            last_id    bigint,      -- that job
            error      text,        -- why it could not be fired last; null: it could
            created_at timestamptz  -- when it was created
        );
    end if;
end
$$;
