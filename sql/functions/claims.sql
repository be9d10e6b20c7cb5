-- weir.claims(queue_name, group_name, max, after)
-- Lists a group's claims that are not finished, and who holds them. It shows claims to people; programs learn theirs
-- from receive. To do something with a claim takes the right to consume from the queue, whoever knows its number.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
--   after       only claims above this: to page on, give the last claim of the page before
-- Returns: one row a claim, see weir.claim_status, the oldest first; those of which the lease is over, too, until
-- another consumer is given their messages. pid, application_name and role_name are those of the session that received:
-- with a pooler or a server in between, its.
-- Raises: WR001, WR003, WR006, WR012, WR016
-- Locks: none
create or replace function weir.claims(
    queue_name text, group_name text default 'default', max int default 100, after bigint default 0)
returns setof weir.claim_status
language plpgsql
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.claims(queue_name, group_name, max, after);
    else
        return query execute 'select * from ' || weir_internal.call('claims', queue_name, '$1, $2, $3')
        using group_name, max, after;
    end if;
end
$$;
