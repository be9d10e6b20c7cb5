-- weir_internal.installation
-- One row: what is installed here.
create table if not exists weir_internal.installation (
    only_row          boolean primary key default true check (only_row), -- there is one installation a database
    version           text not null,                -- the release whose functions are in place
    schema_version    int not null,                 -- the last numbered upgrade step that ran
    installed_at      timestamptz not null default now(), -- first install
    updated_at        timestamptz not null default now()  -- last install or upgrade
);
