-- weir_log.claims(p_queue, p_group, p_max, p_after), weir_log.read_claims(g, p_max, p_after),
-- weir_log.attempts_before(c, p_id)
-- claims: lists a group's claims that are not finished. read_claims, attempts_before: what it reads, in the snapshot of
-- the statement that calls it.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   g        the group
--   p_max    1 to 1,000 claims at most
--   p_after  only claims above this
--   c        a row of a claim
--   p_id     a message of it
-- Returns: one row a claim, the oldest first. Of each lane 11,000 rows of claims are looked at, which is a page of
-- claims and what one claim may have of rows. attempts_before: how often the message was delivered before this claim
-- and those that let it expire.
-- Raises: claims: WR001, WR003, WR006, WR012, WR016, WR019
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.claims(p_queue text, p_group text, p_max int, p_after bigint)
returns setof weir.claim_status
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    g weir_internal.groups := weir_internal.find_group(q, p_group);
    v_rings bigint[];
    v_out weir.claim_status[];
begin
    perform weir_internal.check_isolation('claims');
    if p_max is null or p_max not between 1 and 1000 or p_after is null or p_after = 9223372036854775807 then
        raise exception 'max % or after % is out of range',
            coalesce(p_max::text, 'null'), coalesce(p_after::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 claims, after one (0 = from the oldest).';
    end if;
    loop
        v_rings := weir_log.ring_states();
        v_out := array(select row(c.*)::weir.claim_status from weir_log.read_claims(g, p_max, p_after) c);
        exit when weir_log.ring_states() = v_rings;
    end loop;
    return query select * from unnest(v_out);
end
$$;
create or replace function weir_log.read_claims(g weir_internal.groups, p_max int, p_after bigint)
returns setof weir.claim_status
language plpgsql stable
as $$
begin
    return query
    select u.claim, u.n::int, u.first_id, (u.c).attempt + weir_log.attempts_before(u.c, u.first_id), u.claimed_at,
        nullif(u.deadline, '-infinity'), s.pid, a.application_name, a.usename::text
    from (
        select c.claim, sum(c.n) as n, min(lower(c.ids)) as first_id, min(c.claimed_at) as claimed_at,
            max(c.deadline) as deadline, max(c.pid) as pid,
            (array_agg(c order by lower(c.ids)))[1] as c
        from weir_log.open_claims(g, null, p_after, 11000) c
        where c.claim > p_after
        group by c.claim order by c.claim limit p_max) u
    cross join lateral (select case when u.deadline > '-infinity' then u.pid end as pid) s
    left join pg_stat_activity a on a.pid = s.pid and a.datname = current_database()
        -- else another session has the number by now; when one began is not for everybody to see
        and coalesce(a.backend_start, pg_postmaster_start_time()) <= u.claimed_at
    order by u.claim;
end
$$;
create or replace function weir_log.attempts_before(c weir_internal.claim, p_id bigint)
returns int
language plpgsql stable
as $$
declare
    s weir_internal.source := coalesce(c.src,
        row(c.seg, c.lane, c.from_txid, c.from_pos, c.txid, c.pos)::weir_internal.source);
begin
    return coalesce(case weir_log.segment_table(s.seg)
        when 0 then weir_log.attempts_before_0(s, c.queue_no, c.group_no, p_id)
        when 1 then weir_log.attempts_before_1(s, c.queue_no, c.group_no, p_id)
        when 2 then weir_log.attempts_before_2(s, c.queue_no, c.group_no, p_id)
        else weir_log.attempts_before_3(s, c.queue_no, c.group_no, p_id) end, 0);
end
$$;
