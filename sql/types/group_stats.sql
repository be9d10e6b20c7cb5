-- weir.group_stats
-- How one group of a queue stands, as stats returns it.
do $$
begin
    if to_regtype('weir.group_stats') is null then
        create type weir.group_stats as (
            queue_name     text,             -- the queue
            group_name     text,             -- the group
            waiting        bigint,           -- messages not claimed yet
            claimed        bigint,           -- messages under a claim that is not finished
            delayed        bigint,           -- messages not due: delayed ones and retries
            parked         bigint,           -- messages in lines of keys: see docs/tasks/monitoring.md
            dead           bigint,           -- dead letters
            oldest_age     interval,         -- age of the oldest waiting message; null when none waits
            lanes          int,              -- of the queue
            segments       int,              -- of the queue's log, in use
            bytes          bigint,           -- of all the queue's tables and indexes
            exact          boolean,          -- the numbers of messages are counts; false: some of them are estimates
            sent           bigint,           -- message ids that the queue has given out
            delivered      bigint,           -- messages that the group was given, each delivery counted
            sent_rate      double precision, -- sent per second, over the last minute or so; null when not known
            delivered_rate double precision, -- delivered per second, likewise
            rotated_at     timestamptz,      -- when the log last went on to another segment; null: not yet
            blocked_by     text,             -- what keeps the queue's oldest segment; null: nothing does
            blocker_pid    int,              -- process id, when that is a session
            blocker_age    interval,         -- how long its transaction has been open
            blocker_query  text,             -- its last statement, as far as the engine's owner may see it
            held_by        text              -- the limit that holds the group back now: concurrency, rate or
                                             -- key_concurrency; null: none
        );
    end if;
end
$$;
