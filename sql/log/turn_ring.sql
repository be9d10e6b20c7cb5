-- weir_log.turn_ring(p_ring, p_bytes, p_window), weir_log.carry_over(p_ring, p_left, p_open)
-- turn_ring: one step of a ring of two tables, of which one is written and both are read: that of the dedup keys and
-- that of the events of tracked jobs. Its state is a sequence that every step raises by one: internal/rings.sql tells
-- what it means. The ring turns when the open table is large, and at least twice what was carried over the last time,
-- so that a row is copied seldom however long it counts; or when the older one is that large and the window is over.
-- What still counts is carried over before the older table is forgotten. Writers are never held up: the table that is
-- truncated is one that nobody reads any more.
--
-- Parameters:
--   p_ring    'dedup' or 'jobs': its tables are <ring>_0 and 1, its state is <ring>_ring
--   p_bytes   a table is large from here on
--   p_window  the longest time that a row counts without anything having to be looked at
--   p_left    the older table, which nobody writes to
--   p_open    the open one
-- Returns: turn_ring: how many things it did, 0 or 1. carry_over: by how many octets the open table grew; null when
-- somebody was in the way.
-- Raises: none
-- Locks: the ring's advisory lock, tried, until the transaction ends; SHARE, and later ACCESS EXCLUSIVE, on the table
-- that was left, tried for 20 ms; carry_over: rows of keys that are being taken, tried for 20 ms.
create or replace function weir_log.turn_ring(p_ring text, p_bytes bigint, p_window interval)
returns int
language plpgsql
as $$
declare
    v_name text := format('weir_log.%s_ring', p_ring);
    v_ring bigint;
    v_open text;
    v_left text;
    v_now timestamptz := weir_internal.clock();
    v_bytes bigint;
    c weir_log.carries;
begin
    if not pg_try_advisory_xact_lock(weir_internal.ring_lock(v_name)) then
        return 0;
    end if;
    v_ring := pg_sequence_last_value(v_name::regclass);
    v_open := format('weir_log.%s_%s', p_ring, weir_internal.open_ring_table(v_ring));
    v_left := format('weir_log.%s_%s', p_ring, 1 - weir_internal.open_ring_table(v_ring));
    select * into c from weir_log.carries where ring = p_ring;
    case weir_internal.ring_phase(v_ring)
    when 0 then
        if not weir_internal.lock_or_skip(v_left, 'share') then
            return 0;
        end if;
    when 1 then
        if c.state is distinct from v_ring then
            p_bytes := greatest(p_bytes, 2 * c.bytes);
            if pg_relation_size(v_open) < p_bytes
                and (pg_relation_size(v_left) < p_bytes or v_now < c.at + p_window) is not false then
                return 0;
            end if;
            v_bytes := weir_log.carry_over(p_ring, v_left, v_open);
            if v_bytes is null then
                return 0;
            end if;
            insert into weir_log.carries values (p_ring, v_ring, pg_current_xact_id(), v_bytes, v_now)
            on conflict (ring) do update
            set state = excluded.state, txid = excluded.txid, bytes = excluded.bytes, at = excluded.at;
            return 1;
        elsif c.txid = pg_current_xact_id_if_assigned() then
            return 0; -- not before it is committed
        end if;
    else
        if pg_relation_size(v_left) > 0 then
            if not weir_internal.lock_or_skip(v_left, 'access exclusive') then
                return 0;
            end if;
            execute format('truncate table %s', v_left);
            return 1;
        elsif exists (select from pg_locks where pid = pg_backend_pid() and relation = v_left::regclass
                          and mode = 'AccessExclusiveLock') then
            return 0; -- this very transaction has truncated it: writers would wait for its end
        end if;
    end case;
    perform setval(v_name::regclass, v_ring + 1);
    return 1;
end
$$;
create or replace function weir_log.carry_over(p_ring text, p_left text, p_open text)
returns bigint
language plpgsql
set lock_timeout = '20ms'
as $$
declare
    v_bytes bigint := pg_relation_size(p_open);
begin
    if p_ring = 'dedup' then
        perform weir_log.carry_keys(p_left, p_open);
    else
        perform weir_log.carry_events(p_left, p_open);
    end if;
    return pg_relation_size(p_open) - v_bytes;
exception
    when lock_not_available then
        return null;
end
$$;
