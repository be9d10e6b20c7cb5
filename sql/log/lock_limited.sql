-- weir_log.lock_limited(p, p_now), weir_log.wait_for_group(p_key)
-- Takes the lock of a limited group and tells how many of its messages may be claimed now. One transaction at a time
-- may claim in such a group, so that what it counts is right until it commits. Without room it lets go again: a
-- transaction that goes on after an empty receive must not keep the group from others.
--
-- An expired claim makes room when its lock is to be had: whoever extends or acknowledges it at this moment holds that.
--
-- Parameters:
--   p      the queue, the group, and what peek told
--   p_now  the time
--   p_key  the lock
-- Returns: lock_limited: p with the group as it is now, room, how many messages may be claimed, inflight, the claims
--   that count, and arrival, see weir_internal.rate_room. room is null when nothing may be claimed, or somebody else
--   had
--   the lock for 100 ms. wait_for_group: whether the lock was to be had in time.
-- Raises: none
-- Locks: the group's advisory lock, waited for up to 100 ms; the advisory locks of expired claims, tried; both until
-- the transaction ends.
create or replace function weir_log.lock_limited(p weir_internal.peeked, p_now timestamptz)
returns weir_internal.peeked
language plpgsql
as $$
declare
    g weir_internal.groups;
    s record;
    v_expired bigint[];
    v_claimed int := 0;
begin
    p.room := null;
    if not pg_try_advisory_xact_lock(weir_internal.limit_lock((p.g).no))
        and not weir_log.wait_for_group(weir_internal.limit_lock((p.g).no)) then
        raise exception 'another claims' using errcode = 'raise_exception';
    end if;
    g := weir_log.read_again(p.g);
    if g.no is null or g.paused or g.queue_paused then
        raise exception 'not this group' using errcode = 'raise_exception';
    end if;
    p.g := g;
    p.room := 10000;
    p.inflight := '{}';
    if coalesce(g.concurrency_max, g.key_concurrency_max) is not null then
        s := weir_log.inflight_claims(weir_log.inflight_of(g), p_now);
        if true = any(s.expired) then
            v_expired := array(
                select u.id from unnest(s.claims, s.expired) u (id, expired)
                where u.expired and pg_try_advisory_xact_lock(weir_internal.claim_lock(u.id)));
            s := weir_log.inflight_claims(s.claims, p_now); -- one may have been extended meanwhile
        end if;
        select coalesce(array_agg(u.id), '{}'), coalesce(sum(u.n), 0) into p.inflight, v_claimed
        from unnest(s.claims, s.lefts, s.expired) u (id, n, expired)
        where not (u.expired and u.id = any(coalesce(v_expired, '{}')));
        p.room := coalesce(g.concurrency_max - v_claimed, p.room);
    end if;
    if g.rate_max is not null and p.room > 0 then
        s := weir_internal.rate_room(g, p_now);
        p.room := least(p.room, s.room);
        p.arrival := s.arrival;
        if s.room = 0 and pg_sequence_last_value(g.rate_sequence) > s.arrival then
            perform setval(g.rate_sequence, s.arrival); -- the clock went back: it counts from now on
        end if;
    end if;
    if p.room <= 0 then
        raise exception 'held back' using errcode = 'raise_exception';
    end if;
    return p;
exception
    when raise_exception then
        p.room := null;
        return p;
end
$$;
create or replace function weir_log.wait_for_group(p_key bigint)
returns boolean
language plpgsql
set lock_timeout = '100ms'
as $$
begin
    perform pg_advisory_xact_lock(p_key);
    return true;
exception
    when lock_not_available or deadlock_detected then
        return false;
end
$$;
