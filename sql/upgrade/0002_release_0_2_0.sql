-- Step 2: from release 0.1.0 to 0.2.0.
do $$
begin
    if current_setting('weir.upgrade_from')::int >= 2 then
        return;
    end if;
    perform weir_internal.lock_tables(array['weir_internal.queues', 'weir_internal.groups',
        'weir_internal.segments']::regclass[]);
    drop function weir.list_groups(text); -- it shows patience, too
    alter table weir_internal.queues
        add column priorities int not null default 1,
        add column aging interval not null default '1 minute',
        add column ttl interval not null default '0',
        add column retention interval not null default '0';
    alter table weir_internal.groups add column ttl interval not null default '0';
    alter table weir_internal.segments add column sealed_at timestamptz;
    update weir_internal.segments set sealed_at = clock_timestamp() where sealed_by is not null;
    drop function weir.list_queues();
end
$$;
