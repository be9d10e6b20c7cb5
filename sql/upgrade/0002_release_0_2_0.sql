-- Step 2: from release 0.1.0 to 0.2.0.
do $$
declare
    v_queue int;
    v_lz4 boolean := exists (
        select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals));
begin
    if current_setting('weir.upgrade_from')::int >= 2 then
        return;
    end if;
    perform weir_internal.lock_tables(
        array['weir_internal.queues', 'weir_internal.groups', 'weir_internal.segments']::regclass[]
        || array(select format('weir_internal.q%s_%s', q.no, t)::regclass
                 from weir_internal.queues q
                 cross join unnest(array['log_0', 'log_1', 'log_2', 'claims_0', 'claims_1', 'claims_2',
                                         'later', 'parked']) t));

    -- tables
    alter table weir_internal.queues
        add column priorities int not null default 1,
        add column aging interval not null default '1 minute',
        add column ttl interval not null default '0',
        add column retention interval not null default '0';
    alter table weir_internal.queues add column birth oid[];
    update weir_internal.queues set birth = array[ -- as weir_internal.birth_of says
        to_regclass(format('weir_internal.q%s_log_0', no))::oid, to_regclass(format('weir_internal.q%s_ids', no))::oid];
    alter table weir_internal.queues alter column birth set not null;
    alter table weir_internal.queues
        add column dedup_window interval default '5 minutes',
        add column backlog_max bigint,
        add column job_retention interval not null default '1 day';
    alter table weir_internal.groups
        add column ttl interval not null default '0',
        add column concurrency_max int,
        add column rate_max int,
        add column rate_period interval not null default '1 second',
        add column limited boolean not null default false,
        add column key_concurrency_max int,
        add column fair boolean not null default false,
        add column keyed boolean not null default false;
    alter table weir_internal.segments add column sealed_at timestamptz;
    update weir_internal.segments set sealed_at = clock_timestamp() where sealed_by is not null;

    -- tables of every queue
    alter type weir_internal.claim add attribute total bigint cascade, add attribute pid int cascade;
    alter type weir_internal.parked_row
        add attribute parked_at timestamptz cascade, add attribute reason text cascade;
    alter type weir_internal.later_row add attribute reason text cascade;
    for v_queue in select no from weir_internal.queues loop
        execute format(
            'create or replace view weir_internal.q%1$s_claims_2 as
             select * from weir_internal.q%1$s_claims_0 union all select * from weir_internal.q%1$s_claims_1', v_queue);
        for k in 0 .. 1 loop
            execute format(
                'create table weir_internal.q%s_dedup_%s (
                     key uuid primary key, id bigint not null, at timestamptz not null, txid xid8
                 ) with (autovacuum_enabled = false)', v_queue, k);
        end loop;
        execute format('create sequence weir_internal.q%s_dedup_ring minvalue 0', v_queue);
        perform setval(format('weir_internal.q%s_dedup_ring', v_queue),
            (extract(epoch from clock_timestamp()) * 1000000)::bigint * 6 + 1);
        execute format('create index q%1$s_later_id on weir_internal.q%1$s_later (id)', v_queue);
        execute format(
            'create index q%1$s_parked_lane on weir_internal.q%1$s_parked (group_id, lane, line)', v_queue);
        execute format( -- what is claimed of a line has a holder from now on
            'update weir_internal.q%1$s_parked p set holder = u.id
             from weir_internal.queues q
             join weir_internal.groups g on g.queue_no = q.no and g.ordered
             cross join lateral weir_internal.q%1$s_cursor((g.no * (q.lanes + 1) + q.lanes)::smallint) k
             cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u
             where q.no = %1$s and p.group_id = g.id and p.holder is null and p.id <@ u.ids', v_queue);
        execute format(
            'create index q%1$s_parked_due on weir_internal.q%1$s_parked (group_id, due_at, no)
             where holder is null and due_at is not null', v_queue);
        execute format('create sequence weir_internal.q%s_cancels minvalue 0', v_queue);
        if not v_lz4 then
            for k in 0 .. 2 loop
                execute format(
                    'alter table weir_internal.q%s_log_%s
                         alter payloads set storage external, alter headers set storage external', v_queue, k);
            end loop;
        end if;
        for k in 0 .. 1 loop
            execute format(case when v_lz4
                then 'alter table weir_internal.q%s_claims_%s alter ids set compression lz4'
                else 'alter table weir_internal.q%s_claims_%s
                          alter ids set storage external, set (toast_tuple_target = 8160)' end, v_queue, k);
        end loop;
        if current_setting('server_version_num')::int >= 150000 then
            execute format('alter sequence weir_internal.q%s_waiting set unlogged', v_queue);
        end if;
    end loop;

    -- public types
    alter type weir.group_stats
        add attribute exact boolean, add attribute sent bigint, add attribute delivered bigint,
        add attribute sent_rate double precision, add attribute delivered_rate double precision,
        add attribute rotated_at timestamptz, add attribute blocked_by text, add attribute blocker_pid int,
        add attribute blocker_age interval, add attribute blocker_query text, add attribute held_by text;

    -- functions that return something else now
    drop function weir.list_groups(text);
    drop function weir.list_queues();
    drop function weir_internal.group_depth;
end
$$;
