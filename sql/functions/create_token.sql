-- weir.create_token(token_name, digest, queues, verbs, lifetime)
-- Lets the holder of a token in at every server of this database. The token itself never comes here: whoever makes it
-- passes its digest. `weir token create` does both. Tokens open the whole database's queues to HTTP, so this is for the
-- role that installed Weir, and for those to whom it grants EXECUTE.
--
-- Parameters:
--   token_name  what people call it: 1 to 47 of a-z, 0-9, _, - and .
--   digest      32 octets: SHA-256 of the token, which must hold 256 random bits
--   queues      patterns of the queues it may use: * stands for any characters
--   verbs       what it may do with them: produce; consume; admin; read, which consume and admin include
--   lifetime    how long it lets in, up to 100 years; null: until it is revoked
-- Returns: nothing.
-- Raises: WR005, WR006, WR043
-- Locks: none
create or replace function weir.create_token(
    token_name text,
    digest bytea,
    queues text[] default '{*}',
    verbs text[] default '{produce,consume,read}',
    lifetime interval default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.check_name('token', token_name);
    perform weir_internal.check_scope(queues, verbs);
    if octet_length(digest) is distinct from 32 then
        raise exception 'a digest has 32 octets, not %', coalesce(octet_length(digest)::text, 'null')
            using errcode = 'WR006', hint = 'Pass the SHA-256 digest of the token.';
    end if;
    if lifetime not between '1 microsecond' and '100 years' then
        raise exception 'lifetime % is not from 1 microsecond to 100 years', lifetime
            using errcode = 'WR006', hint = 'Leave it out for a token that lasts until it is revoked.';
    end if;
    insert into weir_internal.tokens (name, digest, queues, verbs, expires_at)
    values (token_name, create_token.digest, create_token.queues, create_token.verbs,
        weir_internal.clock() + lifetime)
    on conflict do nothing;
    if not found then
        raise exception 'there is a token "%" already, or one of this digest', token_name
            using errcode = 'WR043',
            hint = 'Choose another name, or revoke the token first: weir.revoke_token(''' || token_name || ''').';
    end if;
end
$$;
