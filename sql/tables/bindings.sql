-- weir_internal.bindings
-- Which topics go to which queues. A topic can only match patterns whose literal beginning is a beginning of it, so
-- the few of them that there may be are looked up by `prefix`, and only the rest of their patterns is tried. For that a
-- word stands between "." and ";": `#` is then LIKE's %, and `*` is .%; where the number of words is right. A regular
-- expression, which takes far longer, is needed only where both occur.
create table if not exists weir_internal.bindings (
    pattern    text not null,      -- words separated by dots; * = one word, # = any number of words
    queue_no   int not null references weir_internal.queues on delete cascade, -- the queue that gets the messages
    prefix     text not null,      -- the words before the first * or #, '' when there are none
    rest       text not null,      -- LIKE pattern for what follows the prefix
    words      int,                -- how many words must follow the prefix; null: any number
    regex      text,               -- what follows the prefix must match this too; null: LIKE says all
    created_at timestamptz not null default now(), -- when it was bound
    primary key (prefix, pattern, queue_no)
);
create index if not exists bindings_queue on weir_internal.bindings (queue_no);
