-- weir.revoke_token(token_name)
-- Removes a token: servers let its holder in no more, some seconds after the commit at the latest.
--
-- Parameters:
--   token_name  as it was created
-- Returns: nothing.
-- Raises: WR005, WR044
-- Locks: none
create or replace function weir.revoke_token(token_name text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.check_name('token', token_name);
    delete from weir_internal.tokens t where t.name = token_name;
    if not found then
        raise exception 'there is no token "%"', token_name
            using errcode = 'WR044', hint = 'weir.list_tokens() lists them.';
    end if;
end
$$;
