-- weir_internal.log_relations()
-- The tables and sequences of a log: the one list of them.
--
-- A partial index can be walked whole for a query that implies its condition, and is, once a plan was made when the
-- table was empty. So what finds cursors is no condition that a query for a claim has.
--
-- Returns: one row a relation: its name, its kind ('table', 'sequence' or 'view'), and how it is made; %s stands for
-- the schema.
-- Raises: none
-- Locks: none
create or replace function weir_internal.log_relations()
returns table (relation_name text, kind text, definition text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 'log_' || k, 'table', format(
        'create table %%s.log_%1$s of weir_internal.log_record (
             txid with options default pg_current_xact_id() not null, id with options not null,
             n with options not null, queue_no with options not null, lane with options not null,
             enqueued_at with options not null, payloads with options not null)
         with (autovacuum_enabled = false, toast.autovacuum_enabled = false, toast_tuple_target = 8160);
         create index log_%1$s_order on %%s.log_%1$s (queue_no, lane, txid, id)', k)
    from generate_series(0, 2) k
    union all
    select 'log_' || k || '_segment', 'sequence', format('create sequence %%s.log_%s_segment minvalue 0', k)
    from generate_series(0, 2) k
    union all
    select 'claims_' || k, 'table', format(
        'create table %%s.claims_%1$s of weir_internal.claim (kind with options not null)
         with (autovacuum_enabled = false, toast.autovacuum_enabled = false);
         create index claims_%1$s_cursor on %%s.claims_%1$s (group_no, lane, stripe, id) where group_no is not null;
         create index claims_%1$s_claim on %%s.claims_%1$s (claim, kind, id) where claim is not null', k)
    from generate_series(0, 1) k
    union all
    select w || k, 'sequence', format('create sequence %%s.%s minvalue 0', w || k)
    from generate_series(0, 63) k, unnest('{waiting_, special_}'::text[]) w
    union all
    values
    ('log_ring', 'sequence', 'create sequence %s.log_ring minvalue 0'),
    ('claims_ring', 'sequence', 'create sequence %s.claims_ring minvalue 0'),
    ('delayed_clock', 'sequence', 'create sequence %s.delayed_clock minvalue 0'),
    ('claims_2', 'view',
        'create view %s.claims_2 as select * from %s.claims_0 union all select * from %s.claims_1'),
    ('rest', 'table',
        'create table %s.rest (like %s.log_0);
         alter table %s.rest add column seg bigint not null;
         create index rest_order on %s.rest (queue_no, lane, seg, txid, id);
         create index rest_seg on %s.rest (seg)'),
    ('next_look', 'sequence', 'create sequence %s.next_look minvalue 0'),
    ('segments', 'table',
        'create table %s.segments (
             no bigint primary key, opened_by xid8, opened_at timestamptz not null default clock_timestamp(),
             sealed_by xid8, sealed_at timestamptz, freed_by xid8, holder_queue int, holder_group int)'),
    ('delayed', 'table',
        'create table %s.delayed of weir_internal.delayed_row (
             txid with options not null, queue_no with options not null, due_at with options not null,
             id with options not null);
         create index delayed_due on %s.delayed (queue_no, due_at, id);
         create index delayed_txid on %s.delayed (txid, queue_no, due_at, id);
         create index delayed_id on %s.delayed (id)'),
    ('parked', 'table',
        'create table %s.parked of weir_internal.parked_row (
             group_no with options not null, key_queue with options not null, no with options not null,
             id with options not null);
         create index parked_order on %s.parked (group_no, key_queue, no);
         create index parked_lane on %s.parked (lane, group_no);
         create index parked_id on %s.parked (group_no, id);
         create index parked_due on %s.parked (group_no, due_at, no) where holder is null and due_at is not null'),
    ('key_queues', 'table',
        'create table %s.key_queues of weir_internal.key_queue_row (
             queue_no with options not null, group_no with options not null, key_queue with options not null,
             no with options not null, id with options not null);
         create index key_queues_order on %s.key_queues (group_no, key_queue, no);
         create index key_queues_id on %s.key_queues (id)'),
    ('key_turns', 'table',
        'create table %s.key_turns of weir_internal.key_turn (
             group_no with options not null, key_queue with options not null, no with options not null,
             state with options not null, pos with options not null);
         create index key_turns_queue on %s.key_turns (group_no, key_queue, no);
         create index key_turns_next on %s.key_turns (group_no, no) where state = ''w'''),
    ('in_key_queues', 'view',
        'create view %s.in_key_queues as
         select m.* from %s.key_queues m
         where m.no > (select t.pos from %s.key_turns t
                       where t.group_no = m.group_no and t.key_queue = m.key_queue order by t.no desc limit 1)')
    union all
    select 'dedup_' || k, 'table', format( -- keys of messages and of unique jobs: see log/record_dedup_keys.sql
        'create table %%s.dedup_%1$s (
             queue_no int not null,   -- the queue
             key uuid not null,       -- digest_of the key, or job_digest
             id bigint not null,      -- the message that was first
             at timestamptz not null, -- when it was sent; of a unique job: until when the key counts
             txid xid8)               -- of a unique job: the transaction that sent it; of a dedup key null
         with (autovacuum_enabled = false);
         create unique index dedup_%1$s_key on %%s.dedup_%1$s (queue_no, key)', k)
    from generate_series(0, 1) k
    union all
    select 'jobs_' || k, 'table', format(
        'create table %%s.jobs_%1$s of weir_internal.job_event (
             queue_no with options not null, id with options not null, what with options not null,
             at with options not null)
         with (autovacuum_enabled = false, toast.autovacuum_enabled = false);
         create index jobs_%1$s_order on %%s.jobs_%1$s (queue_no, id, what, at)', k)
    from generate_series(0, 1) k
    union all
    values
    ('dedup_ring', 'sequence', 'create sequence %s.dedup_ring minvalue 0'),
    ('jobs_ring', 'sequence', 'create sequence %s.jobs_ring minvalue 0'),
    ('carries', 'table', -- the last time that a ring's older table was carried over to the open one
        'create table %s.carries (
             ring text primary key,   -- dedup or jobs
             state bigint not null,   -- the state of the ring then
             txid xid8 not null,      -- the transaction: the older table is given up only when it is over
             bytes bigint not null,   -- by so much the open table grew
             at timestamptz not null)')
$$;
