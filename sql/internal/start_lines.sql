-- weir_internal.start_lines(q, o, g)
-- Makes a change of what a group does with the keys of its messages take effect; see queue/lines.sql. The first such
-- group of a queue brings the tables. Without lines, what waited in them is due at once in `later`. A limit per key
-- counts what is claimed already; without one nothing waits for it.
--
-- Parameters:
--   q  the queue
--   o  the group as it was; all null: it is new
--   g  the group as it is stored now
-- Returns: nothing.
-- Raises: WR016
-- Locks: the new tables; ROW EXCLUSIVE on `later`, `lines` and `turns`. The caller has the group's turn.
create or replace function weir_internal.start_lines(
    q weir_internal.queues, o weir_internal.groups, g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_messages weir_internal.later_row[];
begin
    if g.keyed and to_regclass(format('weir_internal.q%s_lines', q.no)) is null then
        execute format(
            'create table weir_internal.q%1$s_lines of weir_internal.line_message (
                 group_id with options not null, line with options not null, no with options not null,
                 id with options not null, payload with options not null);
             create index q%1$s_lines_order on weir_internal.q%1$s_lines (group_id, line, no);
             create index q%1$s_lines_id on weir_internal.q%1$s_lines (id);
             create table weir_internal.q%1$s_turns of weir_internal.line_turn (
                 group_id with options not null, line with options not null, no with options not null,
                 what with options not null, pos with options not null);
             create index q%1$s_turns_line on weir_internal.q%1$s_turns (group_id, line, no);
             create index q%1$s_turns_next on weir_internal.q%1$s_turns (group_id, no) where what = 1;
             create view weir_internal.q%1$s_in_line as
             select m.* from weir_internal.q%1$s_lines m
             where m.no > (select t.pos from weir_internal.q%1$s_turns t
                           where t.group_id = m.group_id and t.line = m.line order by t.no desc limit 1)', q.no);
    elsif not g.keyed and o.keyed then
        v_messages := array(
            select row(null, null, m.id, null, m.attempts, m.key, m.payload, m.headers, m.enqueued_at, null)
                ::weir_internal.later_row
            from weir_internal.lined_up(q.no, g.id, null) m order by m.no);
        perform weir_internal.retry(q, g, v_messages, interval '0');
        perform weir_internal.clear_lines(q, g);
    elsif o.key_concurrency_max is not null and g.key_concurrency_max is null then
        execute format(
            'insert into weir_internal.q%1$s_turns (group_id, line, no, what, pos)
             select t.group_id, t.line, nextval(''weir_internal.q%1$s_claim_ids''), 1, t.pos
             from weir_internal.q%1$s_turns t
             where t.group_id = $1 and t.what = 2
                 and not exists (select from weir_internal.q%1$s_turns n
                                 where n.group_id = t.group_id and n.line = t.line and n.no > t.no)', q.no)
        using g.id;
    end if;
    if o.no is not null and o.key_concurrency_max is null and g.key_concurrency_max is not null then
        -- one row for all deliveries so far, which is found from each claim's number
        execute format(
            'with served as (
                 delete from weir_internal.q%1$s_turns where group_id = $2.id and line = '''' returning pos),
             claimed as (
                 select array_agg(m.id) as ids, array_agg(coalesce(''k'' || m.key, ''l'')) as lines
                 from generate_series($3, $4) s
                 cross join lateral weir_internal.q%1$s_cursor(s::smallint) k
                 cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u
                 cross join lateral weir_internal.claim_messages($1, u, u.ids) m)
             insert into weir_internal.q%1$s_turns
             select $2.id, '''', 0, 0, coalesce((select max(pos) from served), 0), c.ids, c.lines from claimed c', q.no)
        using q, g, g.no * (q.lanes + 1), g.no * (q.lanes + 1) + q.lanes;
    end if;
end
$$;
