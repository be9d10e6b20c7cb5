package pooler_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

// bouncer is a PgBouncer in front of a database of its own.
type bouncer struct {
	*testing.T
	db      *pgtest.DB
	dsn     string
	servers int // server connections that it may open
}

// pool makes a database and starts PgBouncer in front of it.
func pool(t *testing.T, mode string, servers int) *bouncer {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{})
	return &bouncer{T: t, db: db, dsn: pgtest.StartBouncer(t, db.Server, mode, servers).DSN(db), servers: servers}
}

// client returns a client as a program gets it.
func (b *bouncer) client() *engine.Client {
	b.Helper()
	c := get[*engine.Client](b.T)(engine.Open(b.Context(), b.dsn, engine.Options{MaxConns: 2}))
	b.Cleanup(c.Close)
	return c
}

// conn returns a connection through PgBouncer.
func (b *bouncer) conn() *pgx.Conn {
	b.Helper()
	config := get[*pgx.ConnConfig](b.T)(engine.ConnConfig(b.dsn))
	c := get[*pgx.Conn](b.T)(pgx.ConnectConfig(b.Context(), config))
	b.Cleanup(func() { _ = c.Close(context.WithoutCancel(b.Context())) })
	return c
}

// wantClean looks into every session behind PgBouncer for what a client may have left.
func (b *bouncer) wantClean() {
	b.Helper()
	var open []pgx.Tx
	for range b.servers { // each transaction stays open, so that the next gets another session
		tx := get[pgx.Tx](b.T)(b.conn().Begin(b.Context()))
		open = append(open, tx)
		var left []string
		must(b.T, tx.QueryRow(b.Context(), `select array(
			select 'listens on ' || c from pg_listening_channels() c
			union all select 'has prepared ' || statement from pg_prepared_statements
			union all select 'has open ' || name from pg_cursors where is_holdable
			union all select 'has locked ' || objid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
			union all select 'has set ' || name from pg_settings where source = 'session' and name not in
				('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings'))`).Scan(&left))
		if len(left) > 0 {
			b.Errorf("a session %s", strings.Join(left, ", "))
		}
	}
	for _, tx := range open {
		must(b.T, tx.Rollback(b.Context()))
	}
	pgtest.WaitForRow(b, b.db, `select not exists (select from pg_locks join pg_database d on d.oid = database
		where locktype = 'advisory' and datname = current_database())`)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get is must for a call that also returns a value.
func get[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}
