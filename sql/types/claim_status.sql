-- weir.claim_status
-- A claim that is not finished, as weir.claims returns it.
do $$
begin
    if to_regtype('weir.claim_status') is null then
        create type weir.claim_status as (
            claim_id         bigint,      -- the claim; only who may consume from the queue can do something with it
            messages         int,         -- of it that are not finished
            first_id         bigint,      -- the lowest id of these
            attempt          int,         -- deliveries of that message, this one included
            claimed_at       timestamptz, -- when
            deadline         timestamptz, -- end of the lease; null or past: the next receive gives them to another
            pid              int,         -- process id of the session that received; null: not known
            application_name text,        -- of that session, while it is there
            role_name        text         -- as which it is logged in, likewise
        );
    end if;
end
$$;
