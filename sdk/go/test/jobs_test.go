package test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

type add struct {
	A int `json:"a"`
	B int `json:"b"`
}

func (add) Kind() string { return "add" }

type wait struct{}

func (wait) Kind() string { return "wait" }

func TestAJobIsRunByTheHandlerOfItsKindAndItsResultCanBeAsked(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(ctx context.Context, job *weir.Job[add]) error {
		if err := job.Progress(ctx, map[string]int{"percent": 50}); err != nil {
			return err
		}
		return job.SetResult(job.Args.A + job.Args.B)
	})
	weir.Handle(handlers, func(context.Context, *weir.Job[wait]) error { return errors.New("not this one") })
	ids := []int64{}
	for i := range 5 {
		ids = append(ids, get(c.Enqueue(t.Context(), "q", add{i, 1}, weir.Tracked()))(t))
	}
	untracked := get(c.Enqueue(t.Context(), "q", add{1, 1}))(t)
	if s := get(c.Job(t.Context(), "q", ids[0]))(t); s == nil || s.State != "waiting" || s.Kind != "add" {
		t.Errorf("before it runs: %+v", s)
	}
	start(t, weir.NewJobWorker(c, "q", handlers))
	idle(t, c, "default")
	for i, id := range ids {
		s := get(c.Job(t.Context(), "q", id))(t)
		if s == nil || s.State != "done" || string(s.Result) != string(rune('1'+i)) || s.FinishedAt == nil {
			t.Errorf("job %d: %+v", i, s)
		}
	}
	if s := get(c.Job(t.Context(), "q", untracked))(t); s != nil {
		t.Errorf("one that is not tracked: %+v", s)
	}
}

func TestAUniqueJobIsEnqueuedOnceUntilItIsFinished(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	first := get(c.Enqueue(t.Context(), "q", add{1, 2}, weir.Unique()))(t)
	if again := get(c.Enqueue(t.Context(), "q", add{1, 2}, weir.Unique()))(t); again != first {
		t.Errorf("enqueued again as %d", again)
	}
	batch := get(c.EnqueueBatch(t.Context(), "q", weir.JobsOf(add{1, 2}, add{3, 4}), weir.Unique()))(t)
	if len(batch) != 2 || batch[0] != (weir.Enqueued{ID: first, Repeated: true}) || batch[1].Repeated {
		t.Errorf("in a batch: %+v", batch)
	}
	keyed := get(c.Enqueue(t.Context(), "q", wait{}, weir.UniqueKey("k"), weir.UniqueFor(time.Hour)))(t)
	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(context.Context, *weir.Job[add]) error { return nil })
	weir.Handle(handlers, func(context.Context, *weir.Job[wait]) error { return nil })
	start(t, weir.NewJobWorker(c, "q", handlers))
	idle(t, c, "default")
	if later := get(c.Enqueue(t.Context(), "q", add{1, 2}, weir.Unique()))(t); later == first {
		t.Error("it was not enqueued after it had finished")
	}
	if got := get(c.Enqueue(t.Context(), "q", wait{}, weir.UniqueKey("k"), weir.UniqueFor(time.Hour)))(t); got != keyed {
		t.Error("within its hour it was enqueued again")
	}
}

func TestJobsOfABatchAreUniqueEachByItsOwnKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		there := get(c.Enqueue(t.Context(), "q", wait{}, weir.UniqueKey("there")))(t)
		batch := []weir.OutgoingJob{
			{Args: add{1, 2}, UniqueKey: "a", Key: "k", Headers: map[string]any{"h": "own"}},
			{Args: add{3, 4}, UniqueKey: "there"},
			{Args: wait{}, UniqueKey: "a"},
			{Args: add{1, 2}},
			{Args: wait{}, RunAt: time.Now().Add(time.Hour)},
		}
		got := get(c.EnqueueBatch(t.Context(), "q", batch, weir.With(weir.Headers(map[string]any{"h": "all"}))))(t)
		want := []weir.Enqueued{{ID: got[0].ID}, {ID: there, Repeated: true}, {ID: got[0].ID, Repeated: true}, {}, {}}
		want[3].ID, want[4].ID = got[3].ID, got[4].ID
		if !slices.Equal(got, want) || got[3].ID == got[0].ID {
			t.Errorf("enqueued %+v", got)
		}
		one := get(c.EnqueueBatch(t.Context(), "q", batch[:1]))(t)
		if !slices.Equal(one, []weir.Enqueued{{ID: got[0].ID, Repeated: true}}) {
			t.Errorf("one that was there: %+v", one)
		}
		waiting := map[int64]*weir.RawMessage{}
		for _, m := range get(c.Pop(t.Context(), "q", weir.Max(10)))(t) {
			waiting[m.ID] = m
		}
		if len(waiting) != 3 || waiting[there] == nil {
			t.Fatalf("%d jobs wait", len(waiting))
		}
		first, second := waiting[got[0].ID], waiting[got[3].ID]
		if first.Key != "k" || first.Headers["h"] != "own" || first.Headers["kind"] != "add" || second.Headers["h"] != "all" {
			t.Errorf("the first has %q and %v, the second %v", first.Key, first.Headers, second.Headers)
		}
	})
}

func TestOfBatchesThatRaceEachUniqueKeyIsEnqueuedOnceAndARolledBackOneLeavesNone(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	keyed := func(from, n int) []weir.OutgoingJob {
		batch := make([]weir.OutgoingJob, n)
		for i := range batch {
			batch[i] = weir.OutgoingJob{Args: add{A: i}, UniqueKey: strconv.Itoa(from + i)}
		}
		return batch
	}
	undo := errors.New("undo")
	err := c.Transaction(t.Context(), func(tx *weir.Client) error {
		get(tx.EnqueueBatch(t.Context(), "q", keyed(0, 100)))(t)
		return undo
	})
	if !errors.Is(err, undo) {
		t.Error(err)
	}
	invalid := append(keyed(0, 100), weir.OutgoingJob{Args: caseJob{JobKind: ""}, UniqueKey: "no kind"})
	if _, err := c.EnqueueBatch(t.Context(), "q", invalid); !errors.Is(err, weir.ErrInvalidKind) {
		t.Errorf("a job without a kind: %v", err)
	}
	var racing sync.WaitGroup
	var fresh atomic.Int32
	for i := range 4 {
		racing.Go(func() {
			batch := keyed(20*i, 100)
			if i%2 == 1 {
				slices.Reverse(batch)
			}
			enqueued, err := c.EnqueueBatch(t.Context(), "q", batch)
			if err != nil {
				t.Error(err)
			}
			for _, e := range enqueued {
				if !e.Repeated {
					fresh.Add(1)
				}
			}
		})
	}
	racing.Wait()
	if jobs := get(c.Pop(t.Context(), "q", weir.Max(1000)))(t); len(jobs) != 160 || fresh.Load() != 160 {
		t.Errorf("%d jobs of 160 keys, %d are called fresh", len(jobs), fresh.Load())
	}
}

func TestABatchOfJobsThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	refused := map[string]struct {
		batch []weir.OutgoingJob
		opts  []weir.JobOption
		want  error
	}{
		"a job without arguments": {batch: make([]weir.OutgoingJob, 1), want: weir.ErrPayload},
		"one key for all": {
			batch: weir.JobsOf(wait{}), opts: []weir.JobOption{weir.UniqueKey("k")}, want: weir.ErrNotSupported,
		},
		"a header of Weir's own": {
			batch: []weir.OutgoingJob{{Args: wait{}, Headers: map[string]any{"job": 1}}}, want: weir.ErrInvalidArgument,
		},
	}
	for name, r := range refused {
		if _, err := c.EnqueueBatch(t.Context(), "q", r.batch, r.opts...); !errors.Is(err, r.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := get(c.EnqueueBatch(t.Context(), "q", nil))(t); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestASnoozedJobComesAgainWithoutACountedAttempt(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	var runs atomic.Int32
	attempts := make(chan int, 10)
	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(_ context.Context, job *weir.Job[wait]) error {
		attempts <- job.Attempt
		if runs.Add(1) < 3 {
			return weir.Snooze(10 * time.Millisecond)
		}
		return nil
	})
	get(c.Enqueue(t.Context(), "q", wait{}))(t)
	start(t, weir.NewJobWorker(c, "q", handlers, weir.WorkerOptions{OnError: func(_ *weir.RawMessage, err error) {
		t.Error(err)
	}}))
	for range 3 {
		if n := <-attempts; n != 1 {
			t.Errorf("attempt %d", n)
		}
	}
	idle(t, c, "default")
}

func TestACancelledJobsHandlerIsToldAndAWaitingOneNeverRuns(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	begun, ended := make(chan struct{}, 10), make(chan error, 10)
	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(ctx context.Context, _ *weir.Job[wait]) error {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	})
	running := get(c.Enqueue(t.Context(), "q", wait{}, weir.Tracked()))(t)
	waiting := get(c.Enqueue(t.Context(), "q", wait{}, weir.Tracked(), weir.RunAt(time.Now().Add(time.Hour))))(t)
	start(t, weir.NewJobWorker(c, "q", handlers,
		weir.WorkerOptions{Lease: 45 * time.Second, OnError: func(*weir.RawMessage, error) {}}))
	<-begun
	if s := get(c.Cancel(t.Context(), "q", waiting, "not needed"))(t); s != "cancelled" {
		t.Errorf("the waiting one: %s", s)
	}
	if s := get(c.Cancel(t.Context(), "q", running, ""))(t); s != "running" {
		t.Errorf("the running one: %s", s)
	}
	if err := <-ended; !errors.Is(err, weir.ErrJobCancelled) {
		t.Errorf("cancelled with %v", err)
	}
	for _, id := range []int64{waiting, running} {
		pgtest.WaitFor(t, "the job to be cancelled", func() bool {
			s := get(c.Job(t.Context(), "q", id))(t)
			return s != nil && s.State == "cancelled"
		})
	}
	if len(begun) > 0 {
		t.Error("it ran again")
	}
}

func TestAJobsWritesAndItsEndHappenTogether(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	db.Exec(t, "create table done (n int primary key)")
	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(ctx context.Context, job *weir.Job[add]) error {
		write := func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "insert into done values ($1)", job.Args.A); err != nil {
				return err
			}
			if job.Attempt == 1 {
				return weir.RetryAfter(0, errors.New("after the write"))
			}
			return nil
		}
		if err := job.ExactlyOnce(ctx, write); err != nil {
			return err
		}
		return job.ExactlyOnce(ctx, write) // finished: it must not write again
	})
	for i := range 10 {
		get(c.Enqueue(t.Context(), "q", add{A: i}))(t)
	}
	start(t, weir.NewJobWorker(c, "q", handlers, weir.WorkerOptions{OnError: func(*weir.RawMessage, error) {}}))
	idle(t, c, "default")
	if n := pgtest.QueryVal[int](t, db, "select count(*)::int from done"); n != 10 {
		t.Errorf("%d rows", n)
	}
	if letters := dead(t, c); len(letters) != 0 {
		t.Errorf("dead letters: %v", letters)
	}
}

func TestAJobOfAKindThatNobodyKnowsIsTriedAgainAndKeptWithTheReason(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	must(t, c.CreateGroup(t.Context(), "q", "once", weir.GroupOptions{MaxAttempts: 1}))
	get(c.Enqueue(t.Context(), "q", wait{}))(t)
	failed := make(chan error, 1)
	start(t, weir.NewJobWorker(c, "q", weir.NewHandlers(), weir.WorkerOptions{
		Group: "once", OnError: func(_ *weir.RawMessage, err error) { failed <- err },
	}))
	if err := <-failed; !errors.Is(err, weir.ErrUnknownKind) {
		t.Errorf("failed with %v", err)
	}
	idle(t, c, "once")
	if letters := get(c.DeadLetters(t.Context(), "q", weir.InGroup("once")))(t); len(letters) != 1 {
		t.Errorf("dead letters: %v", letters)
	}
}

func TestASchedulesJobsRunAndAPausedOneEnqueuesNone(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	ran := make(chan string, 100)
	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(_ context.Context, job *weir.Job[add]) error {
		if job.Args != (add{1, 2}) {
			t.Errorf("arguments %+v", job.Args)
		}
		ran <- "add"
		return nil
	})
	get(c.Schedule(t.Context(), "sums", "q", add{1, 2}, weir.ScheduleOptions{Every: time.Second}))(t)
	noon := weir.ScheduleOptions{Cron: "0 12 * * *", TimeZone: "Europe/Berlin"}
	next := get(c.Schedule(t.Context(), "noon", "q", add{}, noon))(t)
	times := get(c.NextTimes(t.Context(), noon.Cron, noon.TimeZone, 2))(t)
	if len(times) != 2 || !times[0].Equal(next) {
		t.Errorf("due at %v, and by next_times at %v", next, times)
	}
	start(t, weir.NewJobWorker(c, "q", handlers))
	<-ran
	<-ran
	must(t, c.PauseSchedule(t.Context(), "sums"))
	schedules := get(c.ListSchedules(t.Context(), "q"))(t)
	if len(schedules) != 2 || schedules[0].Name != "noon" || schedules[0].Cron != "0 12 * * *" || !schedules[1].Paused ||
		schedules[1].Every != time.Second || schedules[1].Kind != "add" || schedules[1].LastID == nil {
		t.Errorf("schedules: %+v", schedules)
	}
	must(t, c.ResumeSchedule(t.Context(), "sums"))
	<-ran
	if !get(c.Unschedule(t.Context(), "noon"))(t) || get(c.Unschedule(t.Context(), "noon"))(t) {
		t.Error("a schedule is removed once")
	}
	if err := c.PauseSchedule(t.Context(), "noon"); !errors.Is(err, weir.ErrScheduleNotFound) {
		t.Errorf("a schedule that is not there: %v", err)
	}
}
