package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Options say what to measure; DefaultOptions has most of them.
type Options struct {
	Workload     string        `json:"workload"`
	Against      []string      `json:"against"`
	Clients      int           `json:"clients"`
	Batch        int           `json:"batch"`
	PayloadBytes int           `json:"payload_bytes"`
	Duration     time.Duration `json:"-"` // of one run; 0: as long as the workload needs
	Seconds      float64       `json:"duration_s"`
	Repetitions  int           `json:"repetitions"`
	Backlog      int           `json:"backlog"`       // messages before a consume
	PreloadBatch int           `json:"preload_batch"` // how many of them one call sent; 0: Batch
	Deep         int           `json:"deep"`          // the backlog that is compared with one of 1,000
	Queues       int           `json:"queues"`        // how many are compared with one
	Rate         int           `json:"rate"`          // of the latency's producer, messages a second
	DSN          string        `json:"-"`             // "": start a server
	Producers    int           `json:"producers"`     // of http
	Consumers    int           `json:"consumers"`     // of http
	Program      string        `json:"-"`             // whose server http measures; "": this one
	Log          *slog.Logger  `json:"-"`
}

// DefaultOptions returns those of the figures that the project quotes.
func DefaultOptions() Options {
	return Options{
		Clients: 4, Batch: 100, PayloadBytes: 22, Repetitions: 3, Backlog: 400_000, Deep: 1_000_000, Queues: 1000,
		Rate: 100, Producers: 32, Consumers: 32,
	}
}

const (
	clientsMax      = 10_000
	payloadBytesMin = 10
	argumentMax     = 120 << 10 // bytes; Linux takes no longer argument, and a batch travels to pgbench in one
)

// complete fills in what is left open and checks the rest.
func (o *Options) complete(work workload) error {
	if o.Duration == 0 {
		o.Duration = work.duration
	}
	if o.PreloadBatch == 0 {
		o.PreloadBatch = o.Batch
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Seconds = o.Duration.Seconds()
	switch {
	case o.Clients < 1 || o.Clients > 40:
		return optionf("%d clients; 1 to 40 are possible", o.Clients)
	case o.Producers < 1 || o.Consumers < 1 || o.Producers+o.Consumers > clientsMax:
		return optionf("%d producers and %d consumers; 1 of each to %d together are possible", o.Producers, o.Consumers,
			clientsMax)
	case o.PayloadBytes < payloadBytesMin:
		return optionf("payloads of %d bytes; the smallest have %d", o.PayloadBytes, payloadBytesMin)
	case o.Batch < 1 || o.PreloadBatch < 1 || o.longestArgument() > argumentMax:
		return optionf("batches of %d times %d bytes; 1 message to %d bytes are possible", max(o.Batch, o.PreloadBatch),
			o.PayloadBytes, argumentMax)
	case o.Duration < time.Second || o.Repetitions < 1:
		return optionf("%d runs of %v; at least one of a second is needed", o.Repetitions, o.Duration)
	case o.Backlog < 50*o.Clients*o.Batch:
		return optionf("a backlog of %d; %d clients with batches of %d need %d", o.Backlog, o.Clients, o.Batch,
			50*o.Clients*o.Batch)
	case o.Deep <= shallow || o.Rate < 1 || o.Rate > 1000:
		return optionf("a depth of %d and a rate of %d; a depth over %d and a rate of 1 to 1000 are possible", o.Deep,
			o.Rate, shallow)
	case o.Queues < 3:
		return optionf("%d queues; at least 3 are needed", o.Queues)
	}
	return nil
}

// longestArgument is the length of the longest argument that pgbench gets.
func (o *Options) longestArgument() int { return (o.PayloadBytes + 8) * max(o.Batch, o.PreloadBatch) }

// payload is the text of one message: a JSON object of the wanted length, whose letters do not compress.
func (o *Options) payload(letters *rand.Rand) string {
	value := make([]byte, o.PayloadBytes-len(`{"v":""}`))
	for i := range value {
		value[i] = 'a' + byte(letters.IntN('z'-'a'+1))
	}
	return `{"v":"` + string(value) + `"}`
}

// batchText is the text of a jsonb[] with n messages.
func (o *Options) batchText(n int) string {
	letters := newLetters()
	quoted := make([]string, n)
	for i := range quoted {
		quoted[i] = `"` + strings.ReplaceAll(o.payload(letters), `"`, `\"`) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

// newLetters is the source of all payloads, so that every run and every system sends the same.
func newLetters() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// runner is what the runs of one Run share.
type runner struct {
	env  *env
	opts Options
}

// Run measures a workload and returns the report.
func Run(ctx context.Context, opts Options) (_ *Report, err error) {
	work, err := findWorkload(opts.Workload)
	if err != nil {
		return nil, err
	}
	if err := opts.complete(work); err != nil {
		return nil, err
	}
	all, err := systems(ctx, opts.Against)
	if err != nil {
		return nil, err
	}
	e, err := openEnv(ctx, opts.DSN, opts.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.close(context.WithoutCancel(ctx))) }()
	r := &runner{env: e, opts: opts}
	report := &Report{Options: opts, Started: time.Now().UTC().Truncate(time.Second), Systems: map[string]string{}}
	if report.Server, err = e.info(ctx); err != nil {
		return nil, err
	}
	for _, sys := range all {
		report.Systems[sys.name] = sys.version
	}
	for _, c := range work.cases {
		runs, err := r.repeat(ctx, c, all)
		if err != nil {
			return nil, fmt.Errorf("measure %s %s: %w", work.name, c.name, err)
		}
		report.add(c, all, runs)
	}
	report.Seconds = time.Since(report.Started).Round(time.Second).Seconds()
	return report, nil
}

// repeat runs a case for each system in turn, again and again, so that noise meets all of them alike.
func (r *runner) repeat(ctx context.Context, c testCase, all []system) (map[string][]values, error) {
	runs := map[string][]values{}
	for i := range r.opts.Repetitions {
		for _, sys := range all {
			v, err := c.run(ctx, r, sys)
			if err != nil {
				return nil, err
			}
			runs[sys.name] = append(runs[sys.name], v)
			r.opts.Log.Info("measured", "case", c.name, "system", sys.name, "run", i+1, "of", r.opts.Repetitions,
				c.metrics[0].name, fmt.Sprintf(c.metrics[0].format+" "+c.metrics[0].unit, v[c.metrics[0].key]))
		}
	}
	return runs, nil
}

// inScratch runs something in a fresh database of a system.
func (r *runner) inScratch(ctx context.Context, sys system, do func(s *scratch) (values, error)) (_ values, err error) {
	s, err := r.env.newScratch(ctx, sys)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(context.WithoutCancel(ctx))) }()
	return do(s)
}

// What a script does in a transaction, with one message or a batch.
type does int

const (
	sends does = 1 << iota
	receives
	inBatches
)

// load is a run of one of a system's scripts by all clients.
func (r *runner) load(sys system, script string, what does) load {
	l := load{script: sys.script(r.env.dir, script), clients: r.opts.Clients, vars: r.vars(r.opts.Batch)}
	each := int64(1)
	if what&inBatches != 0 {
		each = int64(r.opts.Batch)
	}
	if what&sends != 0 {
		l.sends = each
	}
	if what&receives != 0 {
		l.receives = each
	}
	return l
}

// vars are the variables of the scripts.
func (r *runner) vars(batch int) map[string]string {
	return map[string]string{
		"batch": strconv.Itoa(batch), "payload": r.opts.payload(newLetters()), "payloads": r.opts.batchText(batch),
	}
}
