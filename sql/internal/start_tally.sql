-- weir_internal.start_tally(q, p_group, p_claims)
-- Writes the tally of a group's claims anew, when it has a concurrency_max, of its own or per key; see queue/tally.sql.
--
-- Parameters:
--   q         the queue
--   p_group   number of the group
--   p_claims  its unfinished claims
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_internal.start_tally(
    q weir_internal.queues, p_group smallint, p_claims int8multirange)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    t weir_internal.claim;
begin
    if not exists (select from weir_internal.groups
                   where queue_no = q.no and no = p_group
                       and coalesce(concurrency_max, key_concurrency_max) is not null) then
        return;
    end if;
    t.slot := -2 - p_group;
    t.what := 0;
    t.id := nextval(format('weir_internal.q%s_claim_ids', q.no)) * 16384;
    t.n := 0;
    t.ids := p_claims;
    execute format('select weir_internal.q%s_put($1)', q.no) using t;
end
$$;
