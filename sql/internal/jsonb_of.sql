-- weir_internal.jsonb_of(p_payloads), weir_internal.jsonb_of(p_payload)
-- JSON texts as jsonb, for the rows that SQL reads. It runs with its caller's search_path, to be quick.
--
-- Parameters:
--   p_payloads, p_payload  JSON texts, or null
-- Returns: each as jsonb; null where jsonb cannot hold it: a number beyond `numeric`, or what is nested too deeply.
-- Raises: none
-- Locks: none
create or replace function weir_internal.jsonb_of(p_payloads text[])
returns jsonb[]
language plpgsql immutable
as $$
begin
    return p_payloads::pg_catalog.jsonb[];
exception when data_exception or program_limit_exceeded or statement_too_complex then
    return array(
        select weir_internal.jsonb_of(u.payload)
        from pg_catalog.unnest(p_payloads) with ordinality u (payload, i) order by u.i);
end
$$;
create or replace function weir_internal.jsonb_of(p_payload text)
returns jsonb
language plpgsql immutable
as $$
begin
    return p_payload::pg_catalog.jsonb;
exception when data_exception or program_limit_exceeded or statement_too_complex then
    return null;
end
$$;
