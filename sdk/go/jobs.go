package weir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// headerKind is the header that names what handles a job.
const headerKind = "kind"

// Args are the arguments of a job: any type that names its kind. Kind must work on the type's zero value.
type Args interface {
	Kind() string
}

// Job is a delivered job: a message whose payload is arguments of one kind.
type Job[A Args] struct {
	ID         int64 // as Enqueue returned it
	Attempt    int   // 1 at the first
	Args       A
	Key        string         // "" when it was enqueued without one
	Headers    map[string]any // with the kind
	EnqueuedAt time.Time
	Queue      string
	Group      string

	raw *RawMessage
}

// SetResult keeps a value, as JSON, that Client.Job shows when the job was done. Of a job that is not tracked it is
// dropped.
func (j *Job[A]) SetResult(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write result of job %d: %w", j.ID, err)
	}
	j.raw.result = text
	return nil
}

// Progress tells how far the job is, which Client.Job shows while it is tracked; nil tells nothing and only asks. The
// error is ErrJobCancelled when the job was cancelled: a handler returns it.
func (j *Job[A]) Progress(ctx context.Context, value any) error {
	goOn, err := j.raw.client.Progress(ctx, j.Queue, j.raw, value)
	if err == nil && !goOn {
		err = ErrJobCancelled
	}
	return err
}

// ExactlyOnce runs fn in a transaction that also finishes the job, with the result that SetResult was given by then:
// all of it happens or nothing. What fn does for a job that was finished before is rolled back, and is no error.
func (j *Job[A]) ExactlyOnce(ctx context.Context, fn func(tx pgx.Tx) error) error {
	err := j.raw.own.run(func() error { return j.exactlyOnce(ctx, fn) })
	if errors.Is(err, errFinishedBefore) {
		return nil
	}
	return err
}

func (j *Job[A]) exactlyOnce(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return j.raw.client.transaction(ctx, func(tx pgx.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		j.raw.own.settles()
		done := settlement{verb: finish, result: j.raw.result}
		n, err := j.raw.client.In(tx).settle(ctx, j.Queue, done.of(j.raw))
		if err == nil && n == 0 {
			return errFinishedBefore
		}
		return err
	})
}

// Handlers has a handler for each kind of job.
type Handlers struct {
	byKind map[string]Handler[json.RawMessage]
}

// NewHandlers returns an empty registry.
func NewHandlers() *Handlers { return &Handlers{byKind: map[string]Handler[json.RawMessage]{}} }

// Handle registers the handler for the jobs of one kind: that of A. What it returns decides, as for [Handler]; [Snooze]
// puts the job off. It panics when the kind has a handler already.
func Handle[A Args](h *Handlers, handle func(ctx context.Context, job *Job[A]) error) {
	var zero A
	kind := zero.Kind()
	if _, taken := h.byKind[kind]; taken {
		panic(fmt.Sprintf("weir: the kind %q has a handler already", kind))
	}
	h.byKind[kind] = func(ctx context.Context, raw *RawMessage) error {
		m, err := Decode[A](raw)
		if err != nil {
			return Reject(err)
		}
		return handle(ctx, &Job[A]{
			ID: m.ID, Attempt: m.Attempt, Args: m.Payload, Key: m.Key, Headers: m.Headers, EnqueuedAt: m.EnqueuedAt,
			Queue: m.Queue, Group: m.Group, raw: raw,
		})
	}
}

// handle calls the handler of a job's kind. A kind that nobody registered fails, and is tried again: another worker may
// know it, such as one of the next release.
func (h *Handlers) handle(ctx context.Context, raw *RawMessage) error {
	kind, _ := raw.Headers[headerKind].(string)
	handle, known := h.byKind[kind]
	if !known {
		return fmt.Errorf("%w %q", ErrUnknownKind, kind)
	}
	return handle(ctx, raw)
}

// ofWorkflow reports whether a message is a job of a workflow, which goes on at once when its step is finished, and
// only with the next upkeep when it is acked.
func ofWorkflow(raw *RawMessage) bool {
	mark, _ := raw.Headers["job"].(map[string]any)
	return mark["workflow"] != nil
}

// NewJobWorker returns a worker that runs the jobs of a queue with the handlers of their kinds. A job whose arguments
// do not fit becomes a dead letter; the context of one that is cancelled ends with ErrJobCancelled.
func NewJobWorker(c *Client, queue string, h *Handlers, opts ...WorkerOptions) *Worker {
	w := NewWorker(c, queue, h.handle, opts...)
	w.jobs = true
	return w
}

// OutgoingJob is one job of a batch.
type OutgoingJob struct {
	Args      Args
	Key       string         // jobs with one key stay in order in an ordered group; "" is none
	Headers   map[string]any // beside the arguments; nil is none
	RunAt     time.Time      // no earlier than this; the zero time is at once, or after the batch's Delay
	UniqueKey string         // not while a job of this key is unfinished, or as UniqueFor says; "" is none
}

// JobsOf makes a batch of arguments.
func JobsOf[A Args](args ...A) []OutgoingJob {
	batch := make([]OutgoingJob, len(args))
	for i, a := range args {
		batch[i].Args = a
	}
	return batch
}

// message is the job as hooks see it.
func (j OutgoingJob) message() Outgoing {
	return Outgoing{Payload: j.Args, Key: j.Key, Headers: j.Headers}
}

// JobOption is an option of Enqueue and EnqueueBatch that Send has not.
type JobOption func(*jobOptions)

// jobOptions are what the options of an enqueue amount to.
type jobOptions struct {
	key      string
	headers  map[string]any
	delay    *time.Duration
	runAt    *time.Time
	priority *int

	uniqueKey string
	uniqueFor *time.Duration
	unique    bool
	tracked   bool
}

// job is a job with these options.
func (o *jobOptions) job(args Args) OutgoingJob {
	return o.complete(OutgoingJob{Args: args, UniqueKey: o.uniqueKey})
}

// complete gives a job what it has not of its own.
func (o *jobOptions) complete(job OutgoingJob) OutgoingJob {
	if job.Key == "" {
		job.Key = o.key
	}
	if job.Headers == nil {
		job.Headers = o.headers
	}
	if job.RunAt.IsZero() && o.runAt != nil {
		job.RunAt = *o.runAt
	}
	return job
}

// once reports whether enqueueing twice does no harm.
func (o *jobOptions) once() bool { return o.unique || o.uniqueKey != "" || o.uniqueFor != nil }

// With gives a job options that Send takes: Key, Headers, Delay and Priority. A job has a UniqueKey where a message has
// a dedup key.
func With(opts ...SendOption) JobOption {
	return func(o *jobOptions) {
		s := collectSend(opts)
		o.key, o.headers, o.delay, o.priority = s.key, s.headers, s.delay, s.priority
		o.uniqueKey = s.dedupKey
	}
}

// RunAt has the job run no earlier than this; at once when it is past.
func RunAt(t time.Time) JobOption { return func(o *jobOptions) { o.runAt = &t } }

// Unique has the job enqueued only if none of its kind and arguments is there that is not finished, or, with UniqueFor,
// was enqueued that lately.
func Unique() JobOption { return func(o *jobOptions) { o.unique = true } }

// UniqueKey is Unique by this key, whatever the arguments.
func UniqueKey(key string) JobOption { return func(o *jobOptions) { o.uniqueKey = key } }

// UniqueFor makes the job unique for so long from now, instead of until it is finished.
func UniqueFor(d time.Duration) JobOption { return func(o *jobOptions) { o.uniqueFor = &d } }

// Tracked has Client.Job tell how the job stands.
func Tracked() JobOption { return func(o *jobOptions) { o.tracked = true } }

// Enqueued is what became of a job: its id, or that of the job that was there.
type Enqueued struct {
	ID       int64 `json:"id"`
	Repeated bool  `json:"repeated"` // it was there already and not enqueued again
}

// JobStatus is how a tracked job stands.
type JobStatus struct {
	ID          int64           `json:"id"`
	Kind        string          `json:"kind"`
	State       string          `json:"state"` // waiting, running, done, failed or cancelled
	Attempt     int             `json:"attempt"`
	Progress    json.RawMessage `json:"progress"`
	Result      json.RawMessage `json:"result"`
	Error       *string         `json:"error"`
	EnqueuedAt  time.Time       `json:"enqueued_at"`
	RunAt       *time.Time      `json:"run_at"`
	ProgressAt  *time.Time      `json:"progress_at"`
	FinishedAt  *time.Time      `json:"finished_at"`
	CancelledAt *time.Time      `json:"cancelled_at"`
}
