-- weir.job_status
-- How a tracked job stands, as weir.job returns it.
do $$
begin
    if to_regtype('weir.job_status') is null then
        create type weir.job_status as (
            id           bigint,      -- the job: its message
            kind         text,        -- as enqueued
            state        text,        -- 'waiting', 'running', 'done', 'failed' (a dead letter) or 'cancelled'
            attempt      int,         -- deliveries so far, as far as known
            progress     jsonb,       -- what its worker told last; null: nothing
            result       jsonb,       -- as finish gave it
            error        text,        -- why the last try failed, or why it was cancelled
            enqueued_at  timestamptz, -- when
            run_at       timestamptz, -- not before this; null: at once
            progress_at  timestamptz, -- when its worker told last
            finished_at  timestamptz, -- when it ended; null: it has not, or an ack ended it
            cancelled_at timestamptz  -- when cancel was called; its worker may still be running
        );
    end if;
end
$$;
