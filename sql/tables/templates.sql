-- weir_internal.templates
-- The text of the functions that every queue has of its own (sql/queue). Filled by each install; expanded by
-- generate_queue_functions.
create table if not exists weir_internal.templates (
    name text primary key, -- the template's file name
    body text not null     -- create or replace function ...; placeholders in braces
);
delete from weir_internal.templates; -- an older release's may have gone
