-- weir_internal.reading
-- What a cursor reads at a time: see log/accessors.sql.
do $$ begin if to_regtype('weir_internal.reading') is null then
create type weir_internal.reading as (
    records weir_internal.log_record[], -- null when there are none
    txid    xid8,                       -- the position behind all that was read
    pos     bigint,
    passed  int,                        -- how many records were too old
    more    boolean                     -- there is another
);
end if; end $$;
