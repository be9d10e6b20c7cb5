-- weir_internal.rotate_dedup(q)
-- One step of the ring of a queue's dedup keys; the template remember says what its states are. A key is kept for one
-- to two windows. Senders are never held up: the table that is truncated is one that nobody reads any more.
--
-- Parameters:
--   q  the queue
-- Returns: how many things it did, 0 or 1.
-- Raises: none
-- Locks: SHARE, and later ACCESS EXCLUSIVE, on the table that was left, tried for 20 ms.
create or replace function weir_internal.rotate_dedup(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text := format('weir_internal.q%s_dedup_ring', q.no);
    v_ring bigint := pg_sequence_last_value(to_regclass(v_name));
    v_micros bigint := weir_internal.to_micros(weir_internal.clock());
    v_open text := format('weir_internal.q%s_dedup_%s', q.no, v_ring / 3 % 2);
    v_left text := format('weir_internal.q%s_dedup_%s', q.no, 1 - v_ring / 3 % 2);
    v_next int; -- the state to go to: 3 * the open table + what the other one is
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
        if v_micros - v_ring / 6 > extract(epoch from q.dedup_window) * 1000000
            and (pg_relation_size(v_left) > 0 or pg_relation_size(v_open) > 0) then
            v_next := v_ring % 6 + 1;
        end if;
    else
        if pg_relation_size(v_left) > 0 then
            if weir_internal.lock_or_skip(v_left, 'access exclusive') then
                execute format('truncate table %s', v_left);
                return 1;
            end if;
        elsif pg_relation_size(v_open) > 0
            -- not when this very transaction has truncated it: senders would wait for its end
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
