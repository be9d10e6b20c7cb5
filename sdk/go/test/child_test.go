package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// childDSN tells a process of this test binary to be a worker of the database it names.
const childDSN = "WEIR_TEST_CHILD"

// childLease is short, so that the messages of a killed process are free soon.
const childLease = 1500 * time.Millisecond

// runChild is the worker of the processes that tests start: a handler notes that it began, works for as many seconds
// as its payload says, and notes that it ended.
func runChild() {
	dsn := os.Getenv(childDSN)
	if dsn == "" {
		return
	}
	if err := childWork(context.Background(), dsn); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func childWork(ctx context.Context, dsn string) error {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return err
	}
	handle := func(ctx context.Context, m *weir.Message[float64]) error {
		_, err := pool.Exec(ctx, "insert into runs (id, attempt, pid) values ($1, $2, $3)", m.ID, m.Attempt, os.Getpid())
		if err != nil {
			return err
		}
		if _, err = pool.Exec(ctx, "select pg_sleep($1)", m.Payload); err != nil {
			return err
		}
		_, err = pool.Exec(ctx, "update runs set ended = true where id = $1 and attempt = $2", m.ID, m.Attempt)
		return err
	}
	return weir.NewWorker(weir.New(pool), "q", handle, weir.WorkerOptions{Lease: childLease}).Run(ctx)
}

// startChild starts a process with a worker, killed at the end of the test.
func startChild(t *testing.T, db *pgtest.DB) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDSN+"="+db.DSN)
	child.Stderr = os.Stderr
	must(t, child.Start())
	t.Cleanup(func() {
		_ = child.Process.Kill() // the test may have done so
		_ = child.Wait()
	})
	return child
}

// newRuns makes a database with the queue q and the table of the children.
func newRuns(t *testing.T) (*pgtest.DB, *weir.Client) {
	t.Helper()
	db, c := newClient(t)
	db.Exec(t, `create table runs (id bigint, attempt int, pid int, ended boolean not null default false,
		primary key (id, attempt))`)
	return db, c
}

func TestWhatAKilledProcessHeldIsDoneByAnother(t *testing.T) {
	t.Parallel()
	db, c := newRuns(t)
	for range 10 {
		get(c.Send(t.Context(), "q", 3600))(t)
	}
	first := startChild(t, db)
	pgtest.WaitForRow(t, db, "select count(*) = 10 from runs")
	must(t, first.Process.Kill())
	startChild(t, db)
	pgtest.WaitForRow(t, db, "select count(*) = 10 from runs where attempt = 2 and pid <> $1", first.Process.Pid)
}

func TestAJobOfManyLeasesIsNotRunByASecondProcess(t *testing.T) {
	t.Parallel()
	db, c := newRuns(t)
	get(c.Send(t.Context(), "q", 4*childLease.Seconds()))(t)
	startChild(t, db)
	startChild(t, db)
	pgtest.WaitForRow(t, db, "select exists (select from runs where ended)")
	if n := pgtest.QueryVal[int](t, db, "select count(*)::int from runs"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}
