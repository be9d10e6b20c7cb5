-- weir_log.ack_ids(p_queue, p_claim, p_ids), nack(...), release(...), snooze(...), reject(...)
-- What weir_log.settle does, a function each: the right to consume is the right to these.
--
-- Parameters:
--   p_queue   name of the queue
--   p_claim   the claim
--   p_ids     messages of it; nack, release, snooze: null = all that are left
--   p_delay   before the next delivery; nack: null = the group's backoff
--   p_reason  kept with a dead letter
-- Returns: how many messages were settled; 0 when all of them were already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012, WR016, WR019
-- Locks: as weir_log.settle.
create or replace function weir_log.ack_ids(p_queue text, p_claim bigint, p_ids bigint[])
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.check_ids('ack', p_claim, p_ids);
    if cardinality(p_ids) = 1 then
        return weir_log.ack(p_queue, p_claim, (select i from unnest(p_ids) i));
    end if;
    return weir_log.settle(p_queue, p_claim, p_ids, 'ack', null, null);
end
$$;
create or replace function weir_log.nack(
    p_queue text, p_claim bigint, p_ids bigint[], p_delay interval, p_reason text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_log.settle(p_queue, p_claim, p_ids, 'nack', p_delay, p_reason);
end
$$;
create or replace function weir_log.release(p_queue text, p_claim bigint, p_ids bigint[])
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_log.settle(p_queue, p_claim, p_ids, 'release', interval '0', null);
end
$$;
create or replace function weir_log.snooze(p_queue text, p_claim bigint, p_ids bigint[], p_delay interval)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_log.settle(p_queue, p_claim, p_ids, 'release', coalesce(p_delay, '-1 second'), null); -- null: refused
end
$$;
create or replace function weir_log.reject(p_queue text, p_claim bigint, p_ids bigint[], p_reason text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.check_ids('reject', p_claim, p_ids);
    return weir_log.settle(p_queue, p_claim, p_ids, 'reject', null, p_reason);
end
$$;
