-- End of an install or upgrade: every queue's own functions made anew, those of an older release removed, rights given
-- back and closed, the version noted.
do $$
begin
    perform weir_internal.generate_queue_functions(q) from weir_internal.queues q;
    perform weir_internal.drop_obsolete_functions();
end
$$;
revoke all on all functions in schema weir, weir_internal from public;
do $$
begin
    perform weir_internal.restore_grants();
    perform weir_internal.complete_rights(r.role_name)
    from (select distinct role_name from weir_internal.held_rights()) r;
end
$$;
drop table weir_internal.functions_before;
insert into weir_internal.installation (version, schema_version)
values (current_setting('weir.release'), current_setting('weir.schema_version')::int)
on conflict (only_row) do update
set version = excluded.version, schema_version = excluded.schema_version, updated_at = now();
