package test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// seen notes which jobs ran.
type seen struct {
	mu   sync.Mutex
	jobs map[int]int
}

func (s *seen) handle(_ context.Context, m *weir.Message[job]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[m.Payload.N]++
	return nil
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// numbered makes jobs from a number on.
func numbered(from, n int) []weir.Outgoing {
	batch := make([]weir.Outgoing, n)
	for i := range batch {
		batch[i].Payload = job{from + i}
	}
	return batch
}

func TestAWorkerSeesItsServerKilledAndGoesOnWhenItIsBack(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t, pgtest.ServerOptions{Settings: map[string]string{"fsync": "on"}})
	db := server.NewDB(t, false)
	c := connect(t, db.DSN)
	newQueue(t, c, "q", weir.QueueOptions{})
	s := &seen{jobs: map[int]int{}}
	w := weir.NewWorker(c, "q", s.handle,
		weir.WorkerOptions{Lease: 2 * time.Second, OnError: func(*weir.RawMessage, error) {}})
	start(t, w)
	for round := range 2 {
		get(c.SendBatch(t.Context(), "q", numbered(200*round, 200)))(t)
		server.Kill()
		pgtest.WaitFor(t, "the worker to notice", func() bool { return weir.Retryable(w.Health().Err) })
		server.Up(t)
		pgtest.WaitFor(t, "all jobs to run", func() bool { return s.count() == 200*(round+1) })
		pgtest.WaitFor(t, "the worker to be well", func() bool { return w.Health().Err == nil })
	}
}

func TestAWorkerThatIsStartedBeforeItsServerWaitsForItAndCanBeStopped(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t, pgtest.ServerOptions{Settings: map[string]string{"fsync": "on"}})
	db := server.NewDB(t, false)
	c := connect(t, db.DSN)
	newQueue(t, c, "q", weir.QueueOptions{})
	get(c.SendBatch(t.Context(), "q", numbered(0, 10)))(t)
	server.Kill()
	s := &seen{jobs: map[int]int{}}
	quiet := weir.WorkerOptions{OnError: func(*weir.RawMessage, error) {}}
	workers, ended := []*weir.Worker{weir.NewWorker(c, "q", s.handle, quiet), weir.NewWorker(c, "q", s.handle, quiet)},
		[]chan error{make(chan error, 1), make(chan error, 1)}
	for i, w := range workers {
		go func() { ended[i] <- w.Run(t.Context()) }()
		pgtest.WaitFor(t, "the worker to notice", func() bool { return weir.Retryable(w.Health().Err) })
	}
	must(t, workers[0].Stop(context.Background()))
	if err := <-ended[0]; !weir.Retryable(err) {
		t.Errorf("one that could not begin ended with %v", err)
	}
	server.Up(t)
	pgtest.WaitFor(t, "all jobs to run", func() bool { return s.count() == 10 })
	must(t, workers[1].Stop(context.Background()))
	must(t, <-ended[1])
}

func TestAWorkerBehindAPoolerRunsEachJobOnce(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t, pgtest.ServerOptions{})
	db := server.NewDB(t, false)
	bouncer := pgtest.StartBouncer(t, server, "transaction", 2)
	c := connect(t, bouncer.DSN(db))
	newQueue(t, c, "q", weir.QueueOptions{})
	s := &seen{jobs: map[int]int{}}
	start(t, weir.NewWorker(c, "q", s.handle))
	for i := range 5 {
		get(c.SendBatch(t.Context(), "q", numbered(100*i, 100)))(t)
	}
	idle(t, c, "default")
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range 500 {
		if s.jobs[n] != 1 {
			t.Errorf("job %d ran %d times", n, s.jobs[n])
		}
	}
}
