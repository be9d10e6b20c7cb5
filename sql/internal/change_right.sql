-- weir_internal.change_right(p_queue, p_role, p_right, p_grant)
-- Grants or revokes a right on a queue. Both are plain GRANT and REVOKE on functions, so a role has the rights of the
-- roles it is a member of, `drop owned by` takes them away, a dump has them, and \df+ shows them. The first grant makes
-- the queue's gates, the last revoke takes them along.
--
-- Parameters:
--   p_queue  name of the queue
--   p_role   name of the role
--   p_right  'produce', 'consume' or 'admin'
--   p_grant  false = revoke
-- Returns: nothing.
-- Raises: WR001, WR006, WR019
-- Locks: the lock of rights and the queue's administration, until the transaction ends.
create or replace function weir_internal.change_right(p_queue text, p_role text, p_right text, p_grant boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    r record;
    v_owner oid := (select nspowner from pg_namespace where nspname = 'weir_internal');
    v_role oid := (select oid from pg_roles where rolname = p_role);
    v_gate text;
begin
    perform pg_advisory_xact_lock(weir_internal.rights_lock());
    q := weir_internal.lock_queue(p_queue);
    if v_role is null then -- PUBLIC is none
        raise exception 'there is no role %', coalesce(quote_ident(left(p_role, 100)), 'null')
            using errcode = 'WR006', hint = 'Name a role of this server, as it stands in pg_roles. PUBLIC is not one.';
    end if;
    if v_role = v_owner then
        raise exception 'role % installed Weir', quote_ident(p_role)
            using errcode = 'WR006', hint = 'It has every right on every queue, which cannot be given or taken.';
    end if;
    select * into r from weir_internal.rights() t where t.right_name = p_right;
    v_gate := 'weir_gates.' || quote_ident(r.gates[1] || ':' || q.name);
    if p_grant then
        perform weir_internal.make_gates(q, r.gates);
        execute format('grant execute on function %s to %I', v_gate, p_role);
        perform weir_internal.complete_rights(p_role);
    elsif to_regproc(v_gate) is not null then
        execute format('revoke all on function %s from %I', v_gate, p_role);
        perform weir_internal.trim_rights(p_role);
        perform weir_internal.drop_gates(q.name, false);
    end if;
end
$$;
