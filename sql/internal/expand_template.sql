-- weir_internal.expand_template(p_body, q)
-- Turns a template into the text of one queue's functions. {q}, {no}, {name}, and those of its settings that
-- stand in braces are replaced; {lanes} are those of all priorities, {level_lanes} those of one. The lines between
-- `--{ N` and `--}` are repeated for {k} = 0 .. N - 1, with {if} standing for `if` the first time and `elsif` after
-- that; N is {prioritized}, 1 or 0, for what only a queue with priorities needs.
--
-- Parameters:
--   p_body  the template
--   q       the queue
-- Returns: SQL.
-- Raises: none
-- Locks: none
create or replace function weir_internal.expand_template(p_body text, q weir_internal.queues)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_part text[];
    v_block text;
    v_times text;
begin
    p_body := replace(p_body, '{q}', 'q' || q.no);
    p_body := replace(p_body, '{no}', q.no::text);
    p_body := replace(p_body, '{name}', q.name);
    p_body := replace(p_body, '{lanes}', q.lanes::text);
    p_body := replace(p_body, '{message_bytes_max}', q.message_bytes_max::text);
    p_body := replace(p_body, '{priorities}', q.priorities::text);
    p_body := replace(p_body, '{level_lanes}', (q.lanes / q.priorities)::text);
    p_body := replace(p_body, '{aging}', q.aging::text);
    p_body := replace(p_body, '{prioritized}', (q.priorities > 1)::int::text);
    loop
        v_part := regexp_match(p_body, '^(.*?)\n *--\{ (\d)\n(.*?)\n *--\}(.*)$');
        exit when v_part is null;
        v_block := '';
        for k in 0 .. v_part[2]::int - 1 loop
            v_times := replace(v_part[3], '{k}', k::text);
            v_times := replace(v_times, '{if}', case k when 0 then 'if' else 'elsif' end);
            v_block := v_block || E'\n' || v_times;
        end loop;
        p_body := v_part[1] || v_block || v_part[4];
    end loop;
    return p_body;
end
$$;
