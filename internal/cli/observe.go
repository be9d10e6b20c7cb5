package cli

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/tracing"
)

// observeOptions are the flags of serve about being watched and stopped.
type observeOptions struct {
	logFormat     string
	logLevel      string
	metricsGroups int
	drainDelay    time.Duration
	pprof         bool
}

func (o *observeOptions) flags(flags *pflag.FlagSet) {
	flags.StringVar(&o.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error; debug has a line for every request")
	flags.IntVar(&o.metricsGroups, "metrics-groups", server.DefaultMetricsGroups,
		"groups with series of their own at /metrics; those of further queues are summed")
	flags.DurationVar(&o.drainDelay, "drain-delay", 0,
		"go on for so long once told to stop, while /readyz already sends load balancers away")
	flags.BoolVar(&o.pprof, "pprof", false, "serve profiles of the server itself at /debug/pprof/")
}

// log returns the log that the flags ask for.
func (o *observeOptions) log(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return nil, usagef("--log-level %s: it is debug, info, warn or error", o.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, usagef("--log-format %s: it is text or json", o.logFormat)
}

// apply gives the server what the flags and the environment say, and returns what ends the tracing.
func (o *observeOptions) apply(ctx context.Context, w io.Writer, opt *server.Options) (stop func(), err error) {
	if o.metricsGroups < 1 {
		return nil, usagef("--metrics-groups %d: it is 1 or more", o.metricsGroups)
	}
	if o.drainDelay < 0 {
		return nil, usagef("--drain-delay %s: it is 0 or more", o.drainDelay)
	}
	if opt.Log, err = o.log(w); err != nil {
		return nil, err
	}
	opt.MetricsGroups, opt.DrainDelay, opt.Pprof = o.metricsGroups, o.drainDelay, o.pprof
	tracer, err := tracing.Start(ctx, migrate.Version(), opt.Log)
	if err != nil {
		return nil, &usageError{err: err}
	}
	opt.Tracer = tracer
	return func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesTimeout)
		defer cancel()
		if err := tracer.Stop(last); err != nil {
			opt.Log.Warn("cannot export traces", "error", err)
		}
	}, nil
}

// tracesTimeout is how long the last traces may take to be exported when the server stops.
const tracesTimeout = 3 * time.Second
