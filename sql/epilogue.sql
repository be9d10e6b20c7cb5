-- End of an install or upgrade: further logs made like the log main, functions of an older release removed, rights
-- given back and closed, gates made anew, the version noted.
do $$
declare
    l weir_internal.logs;
begin
    for l in select * from weir_internal.logs w where w.name <> 'main' order by w.no loop
        perform weir_internal.create_log_relations(l.schema_name, l.unlogged);
        perform weir_internal.create_log_functions(l.schema_name);
    end loop;
end
$$;
select weir_internal.drop_obsolete_functions();
revoke all on all routines in schema weir, weir_internal, weir_log, weir_gates from public;
do $$
begin
    perform weir_internal.restore_grants();
    perform weir_internal.restore_gates();
    perform weir_internal.complete_rights(r.role_name)
    from (select distinct role_name from weir_internal.held_rights()) r;
end
$$;
drop table weir_internal.functions_before;
insert into weir_internal.installation (version, schema_version)
values (current_setting('weir.release'), current_setting('weir.schema_version')::int)
on conflict (only_row) do update
set version = excluded.version, schema_version = excluded.schema_version, updated_at = now();
