-- weir_log.configure_group(p_queue, p_group, p_settings)
-- Changes a group's settings.
--
-- Parameters:
--   p_queue     name of the queue
--   p_group     name of the group
--   p_settings  as weir.configure_group takes them, by name; null or missing = as it is; limits: 0 = none
-- Returns: nothing.
-- Raises: WR001, WR003, WR006, WR019, WR060
-- Locks: the queue's administration; with limits also the group's limit lock and, when it had none, the locks of its
-- lanes: it waits for receives that are not committed. Until the transaction ends.
create or replace function weir_log.configure_group(p_queue text, p_group text, p_settings jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    o weir_internal.groups := weir_internal.find_group(q, p_group); -- before
    g weir_internal.groups := o; -- after
begin
    g := jsonb_populate_record(o, jsonb_strip_nulls(jsonb_build_object(
        'max_attempts', p_settings -> 'max_attempts', 'backoff_min', p_settings -> 'backoff_min',
        'backoff_max', p_settings -> 'backoff_max', 'concurrency_max', p_settings -> 'concurrency_max',
        'rate_max', p_settings -> 'rate_max', 'rate_period', p_settings -> 'rate_period',
        'key_concurrency_max', p_settings -> 'key_concurrency_max', 'fair', p_settings -> 'fair')));
    g.concurrency_max := nullif(g.concurrency_max, 0);
    g.rate_max := nullif(g.rate_max, 0);
    g.key_concurrency_max := nullif(g.key_concurrency_max, 0);
    g.keyed := g.fair or g.key_concurrency_max is not null;
    g.limited := g.keyed or g.concurrency_max is not null or g.rate_max is not null;
    perform weir_internal.check_group_settings(g);
    if (g.concurrency_max, g.rate_max, g.rate_period, g.key_concurrency_max, g.fair) is distinct from
        (o.concurrency_max, o.rate_max, o.rate_period, o.key_concurrency_max, o.fair) then
        if q.moving_from is not null then
            perform weir_internal.fail_moving(q, 'the limits of its groups cannot be changed');
        end if;
        perform pg_advisory_xact_lock(weir_internal.limit_lock(g.no));
        if g.limited <> o.limited or g.keyed <> o.keyed then
            perform weir_log.lock_lanes(q, g);
            perform weir_log.bump_cursor(g); -- who has read the group before must not claim past the limit
        end if;
        g := weir_log.configure_limits(q, o, g);
    end if;
    update weir_internal.groups w
    set max_attempts = g.max_attempts, backoff_min = g.backoff_min, backoff_max = g.backoff_max,
        concurrency_max = g.concurrency_max, rate_max = g.rate_max, rate_period = g.rate_period,
        rate_sequence = g.rate_sequence, limited = g.limited, key_concurrency_max = g.key_concurrency_max,
        fair = g.fair, keyed = g.keyed
    where w.no = g.no;
end
$$;
