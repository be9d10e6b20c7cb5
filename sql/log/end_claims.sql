-- weir_log.end_claims(q, g)
-- Takes every unfinished claim of a group from its holder, so that an ack that comes yet is told that its claim is
-- gone. The caller holds the locks of the group's lanes.
--
-- Parameters:
--   q, g  queue and group
-- Returns: the messages that the claims held.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_log.end_claims(q weir_internal.queues, g weir_internal.groups)
returns int8multirange
language plpgsql
as $$
declare
    c weir_internal.claim;
    d weir_internal.claim;
    v_ids int8multirange := '{}';
begin
    for c in
        select u.* from weir_log.group_cursors(q, g) k
        cross join lateral weir_log.unfinished(g.no, k.lane, k.stripe, k.low, 'infinity', null) u
    loop
        v_ids := v_ids + c.ids;
        d.kind := 'x';
        d.claim := c.claim;
        d.ids := c.ids;
        d.n := c.n;
        perform weir_log.append_claim(d);
    end loop;
    return v_ids;
end
$$;
