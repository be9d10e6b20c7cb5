-- A queue as one writes it in an afternoon.
create table queue (id bigint primary key generated always as identity, payload jsonb not null);
