-- weir_internal.waiting_record
-- What stats asks of a record that a group has not claimed.
do $$ begin if to_regtype('weir_internal.waiting_record') is null then
create type weir_internal.waiting_record as (
    n           int,         -- messages of it that are for the group and not claimed
    enqueued_at timestamptz, -- when it was sent; null: n is 0
    keys        text[],      -- its keys, where they were asked for
    weight      float8       -- so many like it there are: 1, but in a sample
);
end if; end $$;
