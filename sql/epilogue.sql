-- End of an install or upgrade: every queue's own functions made anew, rights closed, the version noted.
do $$
begin
    perform weir_internal.generate_queue_functions(q) from weir_internal.queues q;
end
$$;
revoke all on all functions in schema weir, weir_internal from public;
do $$
begin
    perform weir_internal.complete_rights(r.role_name)
    from (select distinct role_name from weir_internal.held_rights()) r;
end
$$;
insert into weir_internal.installation (version, schema_version) values ('0.1.0', 1)
on conflict (only_row) do update
set version = excluded.version, schema_version = excluded.schema_version, updated_at = now();
