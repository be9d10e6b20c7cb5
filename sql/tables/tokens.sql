-- weir_internal.tokens
-- The tokens that a server lets in. A token is a random secret of its holder; here is its digest only, so that whoever
-- reads this table, or a dump of it, can do nothing with it.
create table if not exists weir_internal.tokens (
    name       text primary key,       -- what people call it
    digest     bytea not null unique,  -- SHA-256 of the token
    queues     text[] not null,        -- patterns of queue names; * = any characters
    verbs      text[] not null,        -- of produce, consume, admin, read
    created_at timestamptz not null default now(), -- when it was made
    created_by text not null default session_user, -- by which role
    expires_at timestamptz             -- from when on it lets nobody in; null: never
);
