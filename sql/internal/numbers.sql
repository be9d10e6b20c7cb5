-- weir_internal.claim_lock(p_claim), lane_lock(p_group, p_lane, p_stripe), message_lock(p_claim, p_id),
-- limit_lock(p_group), settle_lock(p_group), admin_lock(p_queue), name_lock(p_name), backlog_lock(p_queue),
-- workflow_lock(p_workflow), ring_lock(p_ring), special_lock(p_mark), rights_lock()
-- Keys of Weir's advisory locks, one bigint each; the first 16 bits tell what is locked: 0x5765 ('We') a claim, then a
-- cursor, a message of a claim, a limited group, the settling in a group, the administration of a queue, a name, the
-- count of a queue's backlog; from 22390 on a workflow, the turning of a ring, the upkeep of a log
-- (weir_internal.rotation_lock), the mark that receives look aside; 22399 rights.
-- Keys that fall together make one wait for another and nothing worse.
--
-- Parameters:
--   p_claim, p_group, p_lane, p_stripe, p_id, p_queue, p_workflow  numbers; p_name, p_ring  a name; p_mark  a
--   sequence
-- Returns: the key.
-- Raises: none
-- Locks: none
create or replace function weir_internal.claim_lock(p_claim bigint)
returns bigint language sql immutable
as $$ select (22373::bigint << 48) | (p_claim & 281474976710655) $$;
create or replace function weir_internal.lane_lock(p_group int, p_lane int, p_stripe int)
returns bigint language sql immutable
as $$
    select (22374::bigint << 48) | ((p_group & 16777215)::bigint << 24) | ((p_lane & 65535) << 8) | (p_stripe & 255)
$$;
create or replace function weir_internal.message_lock(p_claim bigint, p_id bigint)
returns bigint language sql immutable
as $$ select (22375::bigint << 48) | ((p_claim << 20 # p_id) & 281474976710655) $$;
create or replace function weir_internal.limit_lock(p_group int)
returns bigint language sql immutable
as $$ select (22376::bigint << 48) | p_group $$;
create or replace function weir_internal.settle_lock(p_group int)
returns bigint language sql immutable
as $$ select (22377::bigint << 48) | p_group $$;
create or replace function weir_internal.admin_lock(p_queue int)
returns bigint language sql immutable
as $$ select (22378::bigint << 48) | p_queue $$;
create or replace function weir_internal.name_lock(p_name text)
returns bigint language sql immutable
as $$ select (22379::bigint << 48) | ('x' || substr(md5(p_name), 1, 8))::bit(32)::bigint $$;
create or replace function weir_internal.backlog_lock(p_queue int)
returns bigint language sql immutable
as $$ select (22380::bigint << 48) | p_queue $$;
create or replace function weir_internal.rights_lock()
returns bigint language sql immutable
as $$ select 22399::bigint << 48 $$;
create or replace function weir_internal.workflow_lock(p_workflow bigint)
returns bigint language sql immutable
as $$ select (22390::bigint << 48) | (p_workflow & 281474976710655) $$;
create or replace function weir_internal.special_lock(p_mark regclass)
returns bigint language sql immutable
as $$ select (22393::bigint << 48) | p_mark::oid::bigint $$;
create or replace function weir_internal.ring_lock(p_ring text)
returns bigint language sql immutable
as $$ select (22391::bigint << 48) | ('x' || substr(md5(p_ring), 1, 8))::bit(32)::bigint $$;
