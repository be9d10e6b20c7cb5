-- weir.group_stats
-- How one group of a queue stands, as stats returns it.
do $$
begin
    if to_regtype('weir.group_stats') is null then
        create type weir.group_stats as (
            queue_name text,       -- the queue
            group_name text,       -- the group
            waiting    bigint,     -- messages not claimed yet
            claimed    bigint,     -- messages under a claim that is not finished
            delayed    bigint,     -- messages not due: delayed ones and retries
            parked     bigint,     -- ordered: messages in lines of keys that are in trouble
            dead       bigint,     -- dead letters
            oldest_age interval,   -- age of the oldest waiting message; null when none waits
            lanes      int,        -- of the queue
            segments   int,        -- of the queue's log, in use
            bytes      bigint      -- of all the queue's tables and indexes
        );
    end if;
end
$$;
