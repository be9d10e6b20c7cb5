package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/weirmq/weir/internal/migrate"
)

// Options say what to measure; DefaultOptions has most of them.
type Options struct {
	Workload     string        `json:"workload"`
	Clients      int           `json:"clients"`
	Batch        int           `json:"batch"`
	PayloadBytes int           `json:"payload_bytes"`
	Duration     time.Duration `json:"-"` // of one run; 0: as long as the workload needs
	Seconds      float64       `json:"duration_s"`
	Repetitions  int           `json:"repetitions"`
	Backlog      int           `json:"backlog"`   // messages before a consume
	Deep         int           `json:"deep"`      // the backlog that is compared with one of 1,000
	Queues       int           `json:"queues"`    // how many are compared with one
	Rate         int           `json:"rate"`      // of the latency's producer, messages a second
	DSN          string        `json:"-"`         // "": start a server
	Producers    int           `json:"producers"` // of http
	Consumers    int           `json:"consumers"` // of http
	Program      string        `json:"-"`         // whose server http measures; "": this one
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
)

// complete fills in what is left open and checks the rest.
func (o *Options) complete(work workload) error {
	if o.Duration == 0 {
		o.Duration = work.duration
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
	case o.Batch < 1:
		return optionf("batches of %d; the smallest have 1", o.Batch)
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

// payloads returns the texts of n messages: JSON objects of the wanted length, whose letters do not compress. They are
// the same in every run.
func (o *Options) payloads(n int) []string {
	letters := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // is to be the same in every run
	texts := make([]string, n)
	for i := range texts {
		value := make([]byte, o.PayloadBytes-len(`{"v":""}`))
		for k := range value {
			value[k] = 'a' + byte(letters.IntN('z'-'a'+1))
		}
		texts[i] = `{"v":"` + string(value) + `"}`
	}
	return texts
}

// runner is what the runs of one Run share.
type runner struct {
	*env

	opts  Options
	batch []string // payloads
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
	e, err := openEnv(ctx, opts.DSN, opts.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.close(context.WithoutCancel(ctx))) }()
	r := &runner{env: e, opts: opts, batch: opts.payloads(opts.Batch)}
	report := &Report{Options: opts, Started: time.Now().UTC().Truncate(time.Second), Version: migrate.Version()}
	if report.Server, err = e.info(ctx); err != nil {
		return nil, err
	}
	for _, c := range work.cases {
		var runs []values
		for i := range opts.Repetitions {
			v, err := c.run(ctx, r)
			if err != nil {
				return nil, fmt.Errorf("measure %s %s: %w", work.name, c.name, err)
			}
			runs = append(runs, v)
			first := c.metrics[0]
			opts.Log.Info("measured", "case", c.name, "run", i+1, "of", opts.Repetitions, first.name,
				fmt.Sprintf(first.format+" "+first.unit, v[first.key]))
		}
		report.add(c, runs)
	}
	report.Seconds = time.Since(report.Started).Round(time.Second).Seconds()
	return report, nil
}
