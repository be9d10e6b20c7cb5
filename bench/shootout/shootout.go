package shootout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Options say what to measure; DefaultOptions has most of them.
type Options struct {
	Root        string // of the checkout; "": the folder above that has bench/adapters
	DSN         string // a URL; "": start a server
	Bin         string // folder with the programs of the server to start; "": fetch the usual one
	Systems     []string
	Workloads   []string
	Setting     string // "both", "best" or "default"
	Repetitions int
	Seconds     float64       // of a timed run
	Quick       bool          // only the workloads that tell most
	Small       bool          // few messages wait, ramps are short, nothing is longer than the rest: to see that all works
	Budget      time.Duration // begin no run after it; 0: until all is done
	Raw         string        // file of results, one JSON object a line; it is continued when it exists
	Log         *slog.Logger
}

// DefaultOptions returns those of the figures that the project quotes.
func DefaultOptions() Options {
	return Options{Setting: "best", Repetitions: 3, Seconds: 5}
}

// Shootout is what was measured.
type Shootout struct {
	Machine Machine  `json:"machine"`
	Seconds float64  `json:"seconds"` // of a timed run
	Results []Result `json:"results"`
}

func (o *Options) complete() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.Root, err = Root(o.Root); err != nil {
		return err
	}
	if o.Raw == "" {
		o.Raw = filepath.Join(o.Root, "bench", "results", "raw", "shootout.jsonl")
		if o.Small { // it is no result of the project
			o.Raw = filepath.Join(o.Root, "build", "bench", "small", "shootout.jsonl")
		}
	}
	switch {
	case o.Setting != "both" && o.Setting != "best" && o.Setting != "default":
		return optionf("no setting %q; there are both, best and default", o.Setting)
	case o.Repetitions < 1 || o.Repetitions > 100:
		return optionf("%d repetitions; 1 to 100 are possible", o.Repetitions)
	case o.Seconds < 0.1 || o.Seconds > 86_400:
		return optionf("runs of %g seconds; 0.1 to 86,400 are possible", o.Seconds)
	case o.Budget < 0:
		return optionf("a budget of %v; it must not be negative, and 0 is none", o.Budget)
	}
	return nil
}

// Root returns the absolute path of a checkout of the repository; of that around the working directory when none is
// named.
func Root(named string) (string, error) {
	if named != "" {
		root, err := filepath.Abs(named)
		if err != nil {
			return "", fmt.Errorf("find root: %w", err)
		}
		return root, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "bench", "adapters")); err == nil {
			return root, nil
		}
		if root == filepath.Dir(root) {
			return "", optionf("no bench/adapters above %s; run it in a checkout of the repository or name one with --root", dir)
		}
	}
}

// pick returns those of a list that are asked for by name, in the list's order; all when none is.
func pick[T any](kind string, all []T, name func(T) string, wanted []string) ([]T, error) {
	var names []string
	for _, one := range all {
		names = append(names, name(one))
	}
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return nil, optionf("no %s %q; there are %s", kind, w, strings.Join(names, ", "))
		}
	}
	if len(wanted) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !slices.Contains(wanted, name(one)) }), nil
}

// job is one run that is to be done; those of a ramp are several runs.
type job struct {
	sys        *System
	setting    string
	w          Workload
	repetition int
}

// plan returns the runs in their order: each repetition does all workloads, each workload all systems, and who begins
// changes from one to the next, so that noise and drift meet all alike and a shootout that is cut short is even. What
// is held against each other is done by one system after the other. What is done once comes last.
func plan(systems []*System, setting string, workloads []Workload, repetitions int) []job {
	var jobs, once []job
	for repetition := range repetitions {
		for i, compared := range turns(workloads) {
			to := &jobs
			if compared[0].Once {
				if repetition > 0 {
					continue
				}
				to = &once
			}
			var round [][]job
			for _, sys := range systems {
				for _, s := range sys.settings(setting) {
					var own []job
					for _, w := range rotated(compared, repetition) {
						own = append(own, job{sys, s, w, repetition + 1})
					}
					round = append(round, own)
				}
			}
			*to = append(*to, slices.Concat(rotated(round, repetition+i)...)...)
		}
	}
	return append(jobs, once...)
}

// turns cuts workloads into those that stand alone and those, one behind the other, that are held against each other.
func turns(workloads []Workload) [][]Workload {
	var all [][]Workload
	for i, w := range workloads {
		if i > 0 && w.Against != "" && w.Against == workloads[i-1].Against && w.Once == workloads[i-1].Once {
			all[len(all)-1] = append(all[len(all)-1], w)
		} else {
			all = append(all, []Workload{w})
		}
	}
	return all
}

// rotated returns the same, beginning n places further on.
func rotated[T any](all []T, n int) []T {
	at := n % max(1, len(all))
	return slices.Concat(all[at:], all[:at])
}

// Run measures and returns all results, those of a raw file that is continued included.
func Run(ctx context.Context, opts Options) (_ *Shootout, err error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	all, err := loadSystems(opts.Root)
	if err != nil {
		return nil, err
	}
	systems, err := pick("system", all, func(s *System) string { return s.Name }, opts.Systems)
	if err != nil {
		return nil, err
	}
	workloads, err := pick("workload", Workloads(), func(w Workload) string { return w.Name }, opts.Workloads)
	if err != nil {
		return nil, err
	}
	if opts.Quick {
		workloads = quick(workloads)
	}
	if opts.Small {
		workloads = small(workloads)
	}
	began, drain := time.Now(), drainMost
	if opts.Small { // nothing is to depend on how slow the machine is
		drain = settleWithin
	}
	server, err := openServer(ctx, opts.DSN, opts.Bin, opts.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.close(context.WithoutCancel(ctx))) }()
	machine, err := server.machine(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := openRaw(opts.Raw, header{Machine: machine, Seconds: opts.Seconds, Small: opts.Small})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, raw.file.Close()) }()
	// It takes minutes: what the options cannot have is said before.
	if systems, err = installed(ctx, systems, opts.Log); err != nil {
		return nil, raw.interrupted("in an installation", err)
	}
	d := &driver{
		server: server, seconds: opts.Seconds, drain: drain, log: opts.Log, cores: runtime.NumCPU(),
		shootout:      began.UTC().Format("20060102T150405"),
		installations: map[string]installation{},
	}
	defer func() { err = errors.Join(err, d.forget(context.WithoutCancel(ctx))) }()
	end := time.Time{}
	if opts.Budget > 0 {
		end = began.Add(opts.Budget)
	}
	if err := d.all(ctx, plan(systems, opts.Setting, workloads, opts.Repetitions), raw, end); err != nil {
		return nil, err
	}
	return raw.shootout(), nil
}

// all does the jobs that are not done yet, and begins none after the end, unless that is zero.
func (d *driver) all(ctx context.Context, jobs []job, raw *rawFile, end time.Time) error {
	for _, j := range jobs {
		if !end.IsZero() && time.Now().After(end) {
			d.log.Info("the budget is spent")
			return nil
		}
		if raw.has(j) {
			continue
		}
		err := d.do(ctx, j, raw)
		switch {
		case err != nil && ctx.Err() != nil:
			at := fmt.Sprintf("in %s on %s, %s, repetition %d", j.w.Name, j.sys.Name, j.setting, j.repetition)
			return raw.interrupted(at, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// forget drops the databases that were copied.
func (d *driver) forget(ctx context.Context) error {
	var err error
	for _, have := range d.installations {
		err = errors.Join(err, d.server.drop(ctx, have.database))
	}
	return err
}

// installed installs the systems and returns those that could be. It fails only when it is interrupted.
func installed(ctx context.Context, systems []*System, log *slog.Logger) ([]*System, error) {
	var good []*System
	for _, s := range systems {
		err := s.install(ctx, log)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("install %s: %w", s.Name, ctx.Err())
		}
		if err != nil {
			log.Warn("left out", "system", s.Name, "error", err)
			continue
		}
		good = append(good, s)
	}
	return good, nil
}

// do does a job: one run, or the runs of a ramp until two in a row stay below the peak. It writes them down together:
// a ramp that is cut short begins again.
func (d *driver) do(ctx context.Context, j job, raw *rawFile) error {
	steps := []int{0}
	if j.w.Ramp != nil {
		steps = j.w.Ramp
	}
	var results []Result
	peak, below := 0.0, 0
	for _, n := range steps {
		result, err := d.measure(ctx, j.sys, j.setting, j.w, n)
		if err != nil {
			return err
		}
		result.Repetition = j.repetition
		d.tell(result)
		results = append(results, result)
		if result.Cannot != "" || result.Error != "" {
			break
		}
		if result.Rate > peak {
			peak, below = result.Rate, 0
		} else if below++; below == 2 {
			break
		}
	}
	return raw.write(results...)
}

func (d *driver) tell(r Result) {
	about := []any{"workload", r.Workload, "system", r.System, "setting", r.Setting, "repetition", r.Repetition}
	switch {
	case r.Cannot != "":
		about = append(about, "cannot", r.Cannot)
	case r.Error != "":
		about = append(about, "error", r.Error)
	default:
		about = append(about, "rate", fmt.Sprintf("%.0f/s", r.Rate), "sent", r.Sent, "done", r.Done)
		if r.Workers > 0 {
			about = append(about, "workers", r.Workers)
		}
		if r.Latency != nil {
			about = append(about, "p50_ms", r.Latency.P50, "p99_ms", r.Latency.P99)
		}
		if r.LeastShare != nil {
			about = append(about, "least_share", *r.LeastShare)
		}
		if r.Lost+r.Duplicated+r.OutOfOrder > 0 {
			about = append(about, "lost", r.Lost, "duplicated", r.Duplicated, "out_of_order", r.OutOfOrder)
		}
	}
	d.log.Info("measured", about...)
}
