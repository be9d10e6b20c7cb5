-- Step 2: from release 0.1.0 to 0.2.0.
do $$
begin
    if current_setting('weir.upgrade_from')::int >= 2 then
        return;
    end if;
    perform weir_internal.lock_tables(array['weir_internal.queues', 'weir_internal.groups',
        'weir_internal.segments']::regclass[]);
    drop function weir.list_groups(text); -- it shows patience, too
end
$$;
