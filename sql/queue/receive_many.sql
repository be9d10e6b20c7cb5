-- receive_many
-- Template of weir_internal."receive_many:<queue>": many receives of one group in one call, for a server with many
-- consumers waiting. It receives once, as much as all of them want, and gives each consumer its share under claims of
-- its own: so each has its own lease, and may ack, nack or extend without regard to the others. An ordered group's
-- lane is for one consumer at a time, so there each request receives for itself. EXECUTE on it is part of the right to
-- consume.
--
-- Parameters:
--   p_group   name of the group
--   p_maxes   messages for each request, 1 or more; 10,000 together
--   p_leases  each request's lease
-- Returns: records; of each, the first counts[1] messages are for the request number requests[1], under the claim
--   claim_ids[1], and so on. The record's own claim_id is of no use.
-- Raises: WR003, WR006, WR012
-- Locks: as receive.
insert into weir_internal.templates (name, body) values ('receive_many', $template$
create or replace function weir_internal."receive_many:{name}"(p_group text, p_maxes int[], p_leases interval[])
returns table (messages weir.message_record, requests int[], claim_ids bigint[], counts int[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
    v_records weir.message_record[];
    v_sum bigint;
    v_longest interval;
    v_request int := 1;          -- whose turn it is
    v_room int := p_maxes[1];    -- how much it wants yet
    v_first int := 1;            -- the records v_first .. v_next - 1 are of one claim
    v_next int;
    v_n int;
    v_claim bigint;
    v_whole boolean;             -- all of the claim is for one request
    v_part bigint;               -- the claim of the request whose turn it is, inside v_claim
    v_parts bigint[];
    v_ids int8multirange[];
    v_leases interval[];
    v_at int;
    v_take int;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    select sum(m), max(l) into v_sum, v_longest from unnest(p_maxes, p_leases) u (m, l);
    if v_sum is null or v_sum > 10000 or cardinality(p_maxes) <> cardinality(p_leases)
        or array_position(p_leases, null) is not null or not 1 <= all(p_maxes)
        or not interval '1 millisecond' <= all(p_leases) then
        raise exception 'receives of % messages for %', p_maxes, p_leases
            using errcode = 'WR006', hint = 'Give as many leases as numbers, each a millisecond or more and 1 or more, '
                'and ask for up to 10,000 messages in all.';
    end if;
    if cardinality(p_maxes) = 1 or exists (
        select from weir_internal.groups g where g.queue_no = {no} and g.name = p_group and g.ordered) then
        for i in 1 .. cardinality(p_maxes) loop
            v_records := weir_internal."receive:{name}"(p_group, p_maxes[i], p_leases[i]);
            exit when cardinality(v_records) = 0;
            foreach messages in array v_records loop
                requests := array[i];
                claim_ids := array[messages.claim_id];
                counts := array[messages.n];
                return next;
            end loop;
        end loop;
        return;
    end if;
    v_records := weir_internal."receive:{name}"(p_group, v_sum::int, v_longest);
    while v_first <= cardinality(v_records) loop
        v_claim := (v_records[v_first]).claim_id;
        v_next := v_first;
        v_n := 0;
        while v_next <= cardinality(v_records) and (v_records[v_next]).claim_id = v_claim loop
            v_n := v_n + (v_records[v_next]).n;
            v_next := v_next + 1;
        end loop;
        v_whole := v_n <= v_room and p_leases[v_request] = v_longest;
        v_part := null;
        v_parts := '{}';
        v_ids := '{}';
        v_leases := '{}';
        for i in v_first .. v_next - 1 loop
            messages := v_records[i];
            requests := '{}';
            claim_ids := '{}';
            counts := '{}';
            v_at := 0;
            while v_at < messages.n loop
                v_take := least(v_room, messages.n - v_at);
                if v_whole then
                    v_part := v_claim;
                else
                    if v_part is null then
                        v_part := nextval('weir_internal.{q}_claim_ids') * 16384 + (v_claim & 16383);
                        v_parts := v_parts || v_part;
                        v_ids := v_ids || int8multirange();
                        v_leases := v_leases || p_leases[v_request];
                    end if;
                    v_ids[cardinality(v_ids)] := v_ids[cardinality(v_ids)] + case when messages.ids is null
                        then int8multirange(int8range(messages.first_id + v_at, messages.first_id + v_at + v_take))
                        else (select range_agg(int8range(m, m + 1))
                              from unnest(messages.ids[v_at + 1 : v_at + v_take]) m) end;
                end if;
                requests := requests || v_request;
                claim_ids := claim_ids || v_part;
                counts := counts || v_take;
                v_at := v_at + v_take;
                v_room := v_room - v_take;
                if v_room = 0 then
                    v_request := v_request + 1;
                    v_room := p_maxes[v_request];
                    v_part := null;
                end if;
            end loop;
            return next;
        end loop;
        if not v_whole then
            perform weir_internal.{q}_divide(v_claim, v_parts, v_ids, v_leases);
        end if;
        v_first := v_next;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
