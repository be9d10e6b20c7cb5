-- weir_internal.expand_template(p_body, q)
-- Turns a template into the text of one queue's functions. {q}, {no}, {name}, and those of its settings that
-- stand in braces are replaced; {lanes} are those of all priorities, {level_lanes} those of one; {restored} tells
-- whether the queue came in a dump, by a comparison of constants that is planned away. The lines between `--{ N` and
-- `--}` are repeated for {k} = 0 .. N - 1, with {if} standing for `if` the first time and `elsif` after that; N is
-- also {prioritized}, {limited}, {throttled} or {keyed}, 1 or 0, for what only a queue with priorities, a backlog_max,
-- a group with limits or one with lines of keys needs; {throttled_groups} are the numbers of the groups with limits.
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
    v_open int;
    v_close int;
    v_block text;
    v_blocks text;
    v_throttled smallint[] := array(select no from weir_internal.groups where queue_no = q.no and limited order by no);
begin
    p_body := replace(p_body, '{restored}', format(
        '''weir_internal.{q}_log_0''::regclass <> %s::oid or ''weir_internal.{q}_ids''::regclass <> %s::oid',
        q.birth[1], q.birth[2]));
    p_body := replace(p_body, '{q}', 'q' || q.no);
    p_body := replace(p_body, '{no}', q.no::text);
    p_body := replace(p_body, '{name}', q.name);
    p_body := replace(p_body, '{lanes}', q.lanes::text);
    p_body := replace(p_body, '{message_bytes_max}', q.message_bytes_max::text);
    p_body := replace(p_body, '{priorities}', q.priorities::text);
    p_body := replace(p_body, '{level_lanes}', (q.lanes / q.priorities)::text);
    p_body := replace(p_body, '{aging}', q.aging::text);
    p_body := replace(p_body, '{dedup_window}', coalesce(q.dedup_window::text, ''));
    p_body := replace(p_body, '{limited}', (q.backlog_max is not null)::int::text);
    p_body := replace(p_body, '{prioritized}', (q.priorities > 1)::int::text);
    p_body := replace(p_body, '{throttled}', (cardinality(v_throttled) > 0)::int::text);
    p_body := replace(p_body, '{keyed}',
        exists (select from weir_internal.groups where queue_no = q.no and keyed)::int::text);
    p_body := replace(p_body, '{throttled_groups}', format('%L::smallint[]', v_throttled));
    loop
        v_open := strpos(p_body, '--{ ');
        exit when v_open = 0;
        v_close := strpos(p_body, '--}');
        v_block := rtrim(substr(p_body, v_open + 5, v_close - v_open - 5), ' ');
        v_blocks := '';
        for k in 0 .. substr(p_body, v_open + 4, 1)::int - 1 loop
            v_blocks := v_blocks
                || replace(replace(v_block, '{k}', k::text), '{if}', case k when 0 then 'if' else 'elsif' end);
        end loop;
        p_body := rtrim(left(p_body, v_open - 1), E' \n') || rtrim(v_blocks, E'\n') || substr(p_body, v_close + 3);
    end loop;
    return p_body;
end
$$;
