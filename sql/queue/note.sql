-- note
-- Template of weir_internal.<q>_note and <q>_events: writes and reads the ring of events of tracked jobs. A queue has
-- the ring from its first tracked job on; without it, both fail.
--
-- Parameters:
--   p_events  note: what happened
--   p_ids     events: the jobs
-- Returns: note: nothing; events: what happened to the jobs. One that was carried over may stand there twice.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table, ACCESS SHARE on both: until the transaction ends.
insert into weir_internal.templates (name, body) values ('note', $template$
create or replace function weir_internal.{q}_note(p_events weir_internal.job_event[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_ring bigint;
begin
    while cardinality(p_events) > 0 loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_jobs_ring');
        --{ 2
        {if} v_ring / 3 % 2 = {k} then
            insert into weir_internal.{q}_jobs_{k}
            select e.* from unnest(p_events) e
            where (select pg_sequence_last_value('weir_internal.{q}_jobs_ring')) = v_ring;
        --}
        end if;
        exit when found;
    end loop;
end
$body$;
create or replace function weir_internal.{q}_events(p_ids bigint[])
returns setof weir_internal.job_event
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $body$
declare
    v_ring bigint;
    v_events weir_internal.job_event[];
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_jobs_ring');
        v_events := array(
            select e from (
                select * from weir_internal.{q}_jobs_0 o where o.id = any(p_ids)
                union all
                select * from weir_internal.{q}_jobs_1 o where o.id = any(p_ids)) e);
        exit when pg_sequence_last_value('weir_internal.{q}_jobs_ring') = v_ring;
    end loop;
    return query select * from unnest(v_events);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
