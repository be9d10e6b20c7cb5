-- settle_many
-- Template of weir_internal."settle_many:<queue>": the nacks, releases, snoozes and rejects of many consumers in one
-- call and one commit; as ack_many, it does those that are plain, each as a call of its own would.
--
-- Parameters:
--   p_verbs     for each claim 'nack', 'release', 'snooze' or 'reject'
--   p_claims    claims; one may occur several times
--   p_ids       null, or for each claim messages of it; null = all that are left
--   p_delays    null, or for each claim the wait before the next delivery; nack: null = the group's backoff
--   p_reasons   null, or for each claim what is kept with a dead letter
--   p_requests  null, or for each claim the request it belongs to: a request is done whole or not at all
-- Returns: one element a claim: how many messages were settled; null = not done, ask again by the verb itself.
-- Raises: WR006, WR012, WR016; WR010 when a claim expires during the call
-- Locks: the claims' advisory locks, tried, until the transaction ends; as <q>_settle.
insert into weir_internal.templates (name, body) values ('settle_many', $template$
create or replace function weir_internal."settle_many:{name}"(
    p_verbs text[], p_claims bigint[], p_ids int8multirange[], p_delays interval[], p_reasons text[], p_requests int[])
returns int[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
declare
    h record;
    v_plain boolean[];
    v_refused int[]; -- requests
    v_out int[];
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    perform weir_internal.check_many('settling', p_claims, cardinality(p_ids), p_requests);
    if cardinality(p_verbs) is distinct from cardinality(p_claims)
        or cardinality(p_delays) <> cardinality(p_claims) or cardinality(p_reasons) <> cardinality(p_claims)
        or (p_verbs <@ '{nack,release,snooze,reject}') is not true then
        raise exception '% verbs, % delays and % reasons for % claims', coalesce(cardinality(p_verbs), 0),
            coalesce(cardinality(p_delays)::text, 'no'), coalesce(cardinality(p_reasons)::text, 'no'),
            cardinality(p_claims)
            using errcode = 'WR006', hint = 'Give nack, release, snooze or reject for each claim, and as many of the '
                'others, or none.';
    end if;
    select * into h from weir_internal.{q}_held(p_claims);
    v_plain := array(
        select coalesce(u.ids, '{}') <@ u.held
            and case u.verb when 'snooze' then coalesce(u.delay between interval '0' and interval '10 years', false)
                when 'nack' then u.delay is null or u.delay between interval '0' and interval '10 years' else true end
        from unnest(h.held, p_ids, p_verbs, p_delays) with ordinality u (held, ids, verb, delay, i) order by u.i);
    v_refused := array(select u.request from unnest(v_plain, p_requests) u (plain, request) where u.plain is not true);
    v_out := array_fill(null::int, array[cardinality(p_claims)]);
    for i in 1 .. cardinality(p_claims) loop
        if v_plain[i] and (p_requests[i] = any(v_refused)) is not true then
            v_out[i] := weir_internal.{q}_settle(
                p_claims[i],
                case when p_ids[i] is not null
                    then array(select m from unnest(p_ids[i]) r, generate_series(lower(r), upper(r) - 1) m) end,
                case p_verbs[i] when 'snooze' then 'release' else p_verbs[i] end,
                case p_verbs[i] when 'release' then interval '0' else p_delays[i] end,
                p_reasons[i]);
        end if;
    end loop;
    return v_out;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
