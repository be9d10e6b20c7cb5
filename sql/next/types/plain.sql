-- weir_internal.plain
-- The queue, the group and the cursor of a receive that is as plain as nearly all are: see log/receive_plainly.sql.
do $$ begin if to_regtype('weir_internal.plain') is null then
create type weir_internal.plain as (
    queue_no    int,
    group_no    int,
    since       timestamptz,
    cursor_id   bigint,
    prev        pg_snapshot,
    cur         pg_snapshot,
    lo          bigint,
    seg         bigint,
    txid        xid8,
    pos         bigint,
    finished    boolean,
    low         bigint,
    next_expiry timestamptz,
    total       bigint,
    due_at      timestamptz,
    due_id      bigint
);
end if; end $$;
