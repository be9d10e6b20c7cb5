package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
)

const (
	waitTime = 3 * time.Minute // far more than anything takes on a busy machine
	pollTime = 2 * time.Millisecond
)

// WaitFor returns when a condition holds and fails the test when that takes too long. What names it in the failure.
func WaitFor(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	deadline := time.NewTimer(waitTime)
	defer deadline.Stop()
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			tb.Fatalf("waited %s for: %s", waitTime, what)
		case <-tb.Context().Done():
			tb.Fatalf("test ended while waiting for: %s", what)
		}
	}
}

// WaitForRow returns when a query, run as superuser and again and again, returns true.
func WaitForRow(tb testing.TB, db *DB, sql string, args ...any) {
	tb.Helper()
	ctx := tb.Context()
	conn, err := pgx.Connect(ctx, db.Server.SocketDSN(embedded.Superuser, db.Name))
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to say
	WaitFor(tb, sql, func() bool {
		var ok bool
		if err := conn.QueryRow(ctx, sql, args...).Scan(&ok); err != nil {
			tb.Fatalf("query %s: %v", sql, err)
		}
		return ok
	})
}

// WaitForLock returns when the backend with a process id (conn.PgConn().PID()) waits for a lock of any kind; behind
// PgBouncer, which does not tell who it is, when any backend of the database does.
func WaitForLock(tb testing.TB, db *DB, pid uint32) {
	tb.Helper()
	WaitForRow(tb, db, `select exists (select from pg_locks join pg_stat_activity a using (pid)
		where not granted and a.datname = $2 and (pid = $1::bigint or $3))`, int64(pid), db.Name, db.Server.bouncer != nil)
}

// PID asks who serves a connection. Behind PgBouncer that holds until its transaction ends.
func PID(tb testing.TB, conn *pgx.Conn) uint32 {
	tb.Helper()
	var pid uint32
	if err := conn.QueryRow(tb.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		tb.Fatalf("ask for the process id: %v", err)
	}
	return pid
}

// WaitForGone returns when there is no backend with a process id any more, so that what it held is released; behind
// PgBouncer, which may keep it for others, when it is in no transaction any more.
func WaitForGone(tb testing.TB, db *DB, pid uint32) {
	tb.Helper()
	WaitForRow(tb, db, `select not exists (select from pg_stat_activity
		where pid = $1::bigint and (not $2 or xact_start is not null))`, int64(pid), db.Server.bouncer != nil)
}
