-- weir_internal.examine_relations(q)
-- Whether a queue's tables, indexes and functions are as they were made.
--
-- Parameters:
--   q  the queue
-- Returns: findings, see weir.doctor.
-- Raises: none
-- Locks: none
create or replace function weir_internal.examine_relations(q weir_internal.queues)
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_prefix text := format('q%s_', q.no);
    v_found text;
begin
    select string_agg(n, ', ' order by n) into v_found
    from unnest(array['log_0', 'log_1', 'log_2', 'claims_0', 'claims_1', 'claims_2', 'later', 'parked', 'log_0_order',
        'log_1_order', 'log_2_order', 'claims_0_order', 'claims_1_order', 'later_due', 'later_txid', 'parked_line',
        'parked_id', 'ids', 'claim_ids', 'log_ring', 'claims_ring', 'later_clock', 'waiting']) n
    where not exists (select from pg_class c left join pg_index i on i.indexrelid = c.oid
                      where c.relnamespace = 'weir_internal'::regnamespace and c.relname = v_prefix || n
                          and i.indisvalid is not false);
    if v_found is not null then
        return next row('error', 'relation_missing', q.name, null, v_found,
            format('Tables, indexes or sequences of the queue (%s...) are not there or not valid.', v_prefix),
            'Something changed the engine''s schema by hand. Restore them, or create the queue anew.')::weir.finding;
    end if;
    select string_agg(c.relname, ', ' order by c.relname) into v_found from pg_class c
    where c.relnamespace = 'weir_internal'::regnamespace and c.relname ~ ('^' || v_prefix) and c.relkind = 'r'
        and (c.relpersistence <> 'p' or c.relhastriggers or c.relrowsecurity or c.relhassubclass);
    if v_found is not null then
        return next row('error', 'table_changed', q.name, null, v_found,
            'These tables are unlogged, inherited from, or have triggers or row security. Messages may be lost.',
            'Undo it: alter table ... set logged, drop trigger, disable row level security.')::weir.finding;
    end if;
    select string_agg(coalesce(t.f[2], '?'), ', ' order by t.f[2]) into v_found
    from weir_internal.templates w
    cross join lateral regexp_matches(weir_internal.expand_template(w.body, q),
        'create or replace function weir_internal\.("??)([^"(]+)\1\(.*?\$body\$(.*?)\$body\$', 'g') as t (f)
    where not exists (select from pg_proc p
                      where p.pronamespace = 'weir_internal'::regnamespace and p.proname = t.f[2]
                          and p.prosrc = t.f[3]);
    if v_found is not null then
        return next row('error', 'functions_not_ours', q.name, null, left(v_found, 200),
            'These functions of the queue are not those that this release made for it.',
            'Run weir install, or sql/install.sql, again: it makes them anew.')::weir.finding;
    end if;
end
$$;
