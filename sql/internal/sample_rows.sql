-- weir_internal.sample_rows(p_table, p_condition, g, c)
-- Counts rows of a table by key: all of them when it has at most 128 pages, else those on 128 pages at equal distances,
-- extrapolated. The standard error of a number is then about itself divided by the square root of the rows found.
--
-- Parameters:
--   p_table      the table, qualified; it has a column `key`
--   p_condition  on its rows l, with the group as $1 and the cursor as $2
--   g, c         the group, and a cursor of it
-- Returns: one row a key.
-- Raises: none
-- Locks: ACCESS SHARE on the table.
create or replace function weir_internal.sample_rows(
    p_table text, p_condition text, g weir_internal.groups, c weir_internal.claim)
returns table (key text, n bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_pages bigint := pg_relation_size(p_table) / current_setting('block_size')::int;
    v_page bigint;
begin
    if v_pages <= 128 then
        return query execute format('select l.key, count(*) from %s l where %s group by l.key', p_table, p_condition)
        using g, c;
        return;
    end if;
    for i in 0 .. 127 loop
        v_page := (i * 2 + 1) * v_pages / 256;
        return query execute format(
            'select l.key, count(*) * %s / 128 from %s l where l.ctid >= ''(%s,0)'' and l.ctid < ''(%s,0)'' and (%s)
             group by l.key', v_pages, p_table, v_page, v_page + 1, p_condition)
        using g, c;
    end loop;
end
$$;
