-- weir_internal.turn_ring(p_queue, p_ring, p_window)
-- One step of a ring of two tables, of which one is written and both are read: that of the dedup keys and that of the
-- events of tracked jobs. Its state is a sequence: the microseconds since 1970 when the state began, times 6, plus 3
-- when table 1 is the open one, plus what the other table is:
--   0  just left: somebody may still write to it
--   1  sealed: what is in it is committed
--   2  forgotten: nobody reads it, and it may be truncated
-- A row is kept for one to two windows. What has to stay longer is carried over to the open table before the older one
-- is forgotten. Writers are never held up: the table that is truncated is one that nobody reads any more.
--
-- Parameters:
--   p_queue   queue number
--   p_ring    'dedup' or 'jobs': its tables are q<no>_<ring>_0 and 1, its state is q<no>_<ring>_ring
--   p_window  how long its rows count
-- Returns: how many things it did, 0 or 1.
-- Raises: none
-- Locks: SHARE, and later ACCESS EXCLUSIVE, on the table that was left, tried for 20 ms.
create or replace function weir_internal.turn_ring(p_queue int, p_ring text, p_window interval)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text := format('weir_internal.q%s_%s_ring', p_queue, p_ring);
    v_ring bigint := pg_sequence_last_value(to_regclass(v_name));
    v_micros bigint := weir_internal.to_micros(weir_internal.clock());
    v_open text := format('weir_internal.q%s_%s_%s', p_queue, p_ring, v_ring / 3 % 2);
    v_left text := format('weir_internal.q%s_%s_%s', p_queue, p_ring, 1 - v_ring / 3 % 2);
    v_next int; -- the state to go to: 3 * the open table + what the other one is
    v_carried xid8;
begin
    if v_ring is null then
        return 0;
    end if;
    case v_ring % 3
    when 0 then
        -- all its rows are older than this moment: no row's time is later than when its writer read the ring
        if weir_internal.lock_or_skip(v_left, 'share') then
            v_next := v_ring % 6 + 1;
        end if;
    when 1 then
        if v_micros - v_ring / 6 <= extract(epoch from p_window) * 1000000
            or pg_relation_size(v_left) = 0 and pg_relation_size(v_open) = 0 then
            return 0;
        end if;
        select txid into v_carried from weir_internal.carries
        where queue_no = p_queue and ring = p_ring and state = v_ring;
        if v_carried is null then
            case weir_internal.carry_over(p_queue, p_ring, v_left, v_open)
            when 0 then
                v_next := v_ring % 6 + 1;
            when 1 then
                insert into weir_internal.carries values (p_queue, p_ring, v_ring, pg_current_xact_id())
                on conflict (queue_no, ring) do update set state = excluded.state, txid = excluded.txid;
                return 1;
            else
                return 0;
            end case;
        elsif v_carried is distinct from pg_current_xact_id_if_assigned() then
            v_next := v_ring % 6 + 1;
        end if;
    else
        if pg_relation_size(v_left) > 0 then
            if weir_internal.lock_or_skip(v_left, 'access exclusive') then
                execute format('truncate table %s', v_left);
                return 1;
            end if;
        elsif pg_relation_size(v_open) > 0
            -- not when this very transaction has truncated it: writers would wait for its end
            and not exists (select from pg_locks where pid = pg_backend_pid() and relation = v_left::regclass
                                and mode = 'AccessExclusiveLock') then
            v_next := 3 - v_ring % 6 / 3 * 3;
        end if;
    end case;
    if v_next is null then
        return 0;
    end if;
    perform setval(v_name, v_micros * 6 + v_next);
    return 1;
end
$$;
