-- weir_log.configure_limits(q, o, g)
-- Gives a group other limits, while it is in use. The caller holds the queue's administration lock and has checked the
-- settings.
--
-- Parameters:
--   q  the queue
--   o  the group as it is
--   g  the group as it is to be: concurrency_max, rate_max, rate_period, key_concurrency_max and fair count
-- Returns: the group as it is stored now.
-- Raises: WR016
-- Locks: the group's lock and, when it had no limits, those of its cursors: it waits for receives that are not
-- committed. Until the transaction ends.
create or replace function weir_log.configure_limits(
    q weir_internal.queues, o weir_internal.groups, g weir_internal.groups)
returns weir_internal.groups
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
begin
    perform pg_advisory_xact_lock(weir_internal.limit_lock(o.no));
    if not o.limited then
        perform weir_log.lock_cursors(q, o);
    end if;
    g.keyed := g.fair or g.key_concurrency_max is not null;
    g.limited := g.keyed or g.concurrency_max is not null or g.rate_max is not null;
    g.rate_sequence := case when g.rate_max is not null then weir_internal.start_rate(o) end;
    update weir_internal.groups w
    set concurrency_max = g.concurrency_max, rate_max = g.rate_max, rate_period = g.rate_period, limited = g.limited,
        key_concurrency_max = g.key_concurrency_max, fair = g.fair, keyed = g.keyed, rate_sequence = g.rate_sequence
    where w.no = o.no
    returning * into g;
    if g.rate_max is null then
        perform weir_internal.end_rate(o);
    else -- what another period left ahead of the time counts for one of the new at most
        perform setval(g.rate_sequence, (weir_internal.rate_room(g, weir_internal.clock())).arrival);
    end if;
    perform weir_log.start_key_queues(q, o, g);
    if coalesce(g.concurrency_max, g.key_concurrency_max) is not null
        and coalesce(o.concurrency_max, o.key_concurrency_max) is null then
        perform weir_log.write_inflight(g, weir_log.open_claims(g));
    end if;
    if g.limited and not o.limited then -- who has read lane 0 before must not claim without the group's lock
        perform weir_log.move_cursor(weir_log.cursor(g, 0, 1));
    end if;
    return g;
end
$$;
