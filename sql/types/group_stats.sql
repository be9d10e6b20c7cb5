-- weir.group_stats
-- How one group of a queue stands, as stats returns it.
do $$
begin
    if to_regtype('weir.group_stats') is null then
        create type weir.group_stats as (
            queue_name     text,             -- the queue
            group_name     text,             -- the group
            waiting        bigint,           -- messages that could be delivered now, limits and pauses apart
            expired        bigint,           -- of these: messages of claims whose lease has ended
            claimed        bigint,           -- messages under a claim whose lease goes on
            delayed        bigint,           -- messages not due: delayed ones and retries
            parked         bigint,           -- of an ordered group: messages behind others of their key
            dead           bigint,           -- dead letters
            oldest_age     interval,         -- how long the first of `waiting` could have been delivered; null: none
            exact          boolean,          -- the numbers of messages are counts; false: some of them are estimates
            sent_rate      double precision, -- messages sent to the queue a second, over the last minute at most
            delivered_rate double precision, -- messages delivered to the group a second, likewise
            delivered_at   timestamptz,      -- when the group was last delivered something; null: not known any more
            expiries       bigint,           -- of its last claims, the leases that ended and were given to others
            hot_key        text,             -- the key that has most of what waits in order; null: few, or no order
            hot_key_share  double precision, -- the share of that which it has, 0 to 1
            held_by        text,             -- the limit that holds the group back now: concurrency, rate or
                                             -- key_concurrency; null: none
            lanes          int,              -- lanes of the queue's keys
            log            text,             -- the log that the queue is in; what follows is about this log
            held_segments  int,              -- its closed segments that wait for this group
            segments       int,              -- its segments in use
            bytes          bigint,           -- its tables and indexes
            blocked_by     text,             -- what keeps its oldest closed segment, or the group; null: nothing does
            blocker_pid    int,              -- process id, when that is a session
            blocker_age    interval,         -- how long its transaction has been open
            blocker_query  text              -- its last statement, as far as the engine's owner may see it
        );
    end if;
end
$$;
