package test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// childDSN tells a process of this test binary to be a worker of the database it names.
const childDSN = "WEIR_TEST_CHILD"

// childLeaks tells a process of this test binary to end its worker and to look what it has left.
const childLeaks = "WEIR_TEST_LEAKS"

// childLease is the lease of a child's messages, in seconds.
const childLease = "WEIR_TEST_LEASE"

// runChild is the worker of the processes that tests start: a handler notes that it began, works until the query that
// is its payload returns true, and notes that it ended.
func runChild() {
	dsn := os.Getenv(childDSN)
	if dsn == "" {
		return
	}
	work := childWork
	if os.Getenv(childLeaks) != "" {
		work = childLeak
	}
	if err := work(context.Background(), dsn); err != nil {
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
	lease, err := strconv.Atoi(os.Getenv(childLease))
	if err != nil {
		return err
	}
	handle := func(ctx context.Context, m *weir.Message[string]) error {
		_, err := pool.Exec(ctx, "insert into runs (id, attempt, pid) values ($1, $2, $3)", m.ID, m.Attempt, os.Getpid())
		if err != nil {
			return err
		}
		for over := false; !over; {
			if _, err := pool.Exec(ctx, "select pg_sleep(0.05)"); err != nil {
				return err
			}
			if err := pool.QueryRow(ctx, m.Payload).Scan(&over); err != nil {
				return err
			}
		}
		_, err = pool.Exec(ctx, "update runs set ended = true where id = $1 and attempt = $2", m.ID, m.Attempt)
		return err
	}
	opt := weir.WorkerOptions{Lease: time.Duration(lease) * time.Second}
	return weir.NewWorker(weir.New(pool), "q", handle, opt).Run(ctx)
}

const (
	leakWarmUp = 5_000     // messages
	leakJobs   = 60_000    // messages
	leakMax    = 1_000_000 // bytes, which buffers may take: a message kept for each job would be ten times more
)

// childLeak runs messages through a worker, stops it, closes its client and returns what goroutines are left, and
// whether memory has grown with the messages.
func childLeak(ctx context.Context, dsn string) error {
	client, err := weir.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	worker := weir.NewWorker(client, "q", func(context.Context, *weir.Message[job]) error { return nil })
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	before, err := childHeap(ctx, client, worker, leakWarmUp)
	if err != nil {
		return err
	}
	after, err := childHeap(ctx, client, worker, leakJobs)
	if err != nil {
		return err
	}
	if err := errors.Join(worker.Stop(ctx), <-ended); err != nil {
		return err
	}
	client.Close()
	if after > before+leakMax {
		return fmt.Errorf("%d jobs left %d bytes", leakJobs, after-before)
	}
	left := goleak.Find()
	for end := time.Now().Add(time.Minute); left != nil && time.Now().Before(end); { // they may take a moment to end
		left = goleak.Find()
	}
	return left
}

// childHeap sends n messages, waits until the worker has settled them and forgotten them, and returns how many bytes
// are in use then.
func childHeap(ctx context.Context, client *weir.Client, worker *weir.Worker, n int) (uint64, error) {
	for from := 0; from < n; from += 1000 {
		if _, err := client.SendBatch(ctx, "q", numbered(from, 1000), weir.Key(strconv.Itoa(from))); err != nil {
			return 0, err
		}
	}
	for left := int64(1); left > 0; {
		stats, err := client.Stats(ctx, "q")
		if err != nil {
			return 0, err
		}
		left = stats[0].Waiting + stats[0].Claimed + int64(worker.Health().Held)
	}
	runtime.GC()
	runtime.GC() // what the first has put aside, such as pools
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc, nil
}

func TestAStoppedWorkerLeavesNoGoroutineAndItsJobsLeaveNothingInMemory(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDSN+"="+db.DSN, childLeaks+"=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// startChild starts a process with a worker, killed at the end of the test.
func startChild(t *testing.T, db *pgtest.DB, lease string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDSN+"="+db.DSN, childLease+"="+lease)
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
		get(c.Send(t.Context(), "q", "select pg_sleep(3600) is null"))(t)
	}
	first := startChild(t, db, "2") // so that what it holds is free soon
	pgtest.WaitForRow(t, db, "select count(distinct id) = 10 from runs")
	must(t, first.Process.Kill())
	second := startChild(t, db, "2")
	pgtest.WaitForRow(t, db, "select count(distinct id) = 10 from runs where pid = $1", second.Process.Pid)
}

func TestAJobWhoseLeaseIsRenewedIsNotRunByASecondProcess(t *testing.T) {
	t.Parallel()
	db, c := newRuns(t)
	get(c.Send(t.Context(), "q", renewed))(t)
	startChild(t, db, "45")
	startChild(t, db, "45")
	pgtest.WaitForRow(t, db, "select exists (select from runs where ended)")
	if n := pgtest.QueryVal[int](t, db, "select count(*)::int from runs"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}
