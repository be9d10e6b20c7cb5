package app

import (
	"io"
	"log/slog"
	"math"
	"runtime"
	"time"
)

// The modes of a run: presets of the options, which flags may change.
const (
	Balanced = "balanced" // consumers that keep up
	Overload = "overload" // producers send more than the consumers can take, and then stop
	Soak     = "soak"     // balanced, for an hour
)

// How the load reaches the queue, and how it acknowledges.
const (
	ViaSQL  = "sql"
	ViaHTTP = "http"

	AcksGathered = "gathered" // by the SDK's worker: what is done while a call is under way goes with the next
	AcksEach     = "each"     // a loop of the program's own: a call a message
)

// Options say what to run. The load gets them as JSON, times in nanoseconds.
type Options struct {
	Mode  string  `json:"mode"`
	Via   string  `json:"via"`
	Acks  string  `json:"acks"`
	Scale float64 `json:"scale"` // of the original's numbers, which are for 32 cores; 0: this machine's cores / 32

	Rate      int     `json:"rate"`  // messages sent a second, by all producers; 0: as Ahead allows
	Ahead     int64   `json:"ahead"` // how many messages the slowest group may be behind before producers wait; 0: any
	Producers int     `json:"producers"`
	Sessions  int     `json:"sessions"` // keys; each belongs to one producer
	Skew      float64 `json:"skew"`     // exponent of the Zipf law by which a producer chooses its sessions; <= 1: evenly
	PushBatch int     `json:"push_batch"`
	BytesMin  int     `json:"payload_bytes_min"`
	BytesMax  int     `json:"payload_bytes_max"`

	Groups       int           `json:"groups"`
	Consumers    int           `json:"consumers"`     // handlers of a group that run at once
	ReceiveBatch int           `json:"receive_batch"` // messages a receive; gathered: that a group's worker holds
	Wait         time.Duration `json:"wait"`          // of a receive that finds nothing; gathered: as the worker does
	Lease        time.Duration `json:"lease"`

	Work        time.Duration `json:"work"`   // of a handler
	Jitter      float64       `json:"jitter"` // by how much of it that differs, both ways
	SlowPercent float64       `json:"slow_percent"`
	SlowWork    time.Duration `json:"slow_work"`

	FailPercent   float64       `json:"fail_percent"`   // deliveries that fail
	PoisonPercent float64       `json:"poison_percent"` // messages whose every delivery fails
	MaxAttempts   int           `json:"max_attempts"`
	BackoffMin    time.Duration `json:"backoff_min"`
	BackoffMax    time.Duration `json:"backoff_max"`

	ForwardPercent  float64       `json:"forward_percent"` // first group: acked and sent on in one transaction
	SecondConsumers int           `json:"second_consumers"`
	SecondWork      time.Duration `json:"second_work"`

	Retention time.Duration `json:"retention"` // of what all groups have finished
	TTL       time.Duration `json:"ttl"`       // of what nobody has taken

	Duration    time.Duration `json:"duration"` // of sending
	Messages    int64         `json:"messages"` // to send; 0: as many as the duration has room for
	Drain       time.Duration `json:"drain"`    // for the consumers to finish what was sent
	Connections int           `json:"connections"`
	Seed        uint64        `json:"seed"`

	KillPostgres time.Duration `json:"kill_postgres"` // between two kills of the server, which is started again; 0: none

	DSN     string       `json:"-"` // a URL; "": start a server
	Root    string       `json:"-"` // of the checkout; "": the folder above that has bench/adapters
	Program string       `json:"-"` // `weir`, for Via http; "": it is built from the checkout
	Live    io.Writer    `json:"-"` // gets a line a second
	Log     *slog.Logger `json:"-"`
}

// originalCores are those of the machine that the numbers come from.
const originalCores = 32

// DefaultOptions returns those of a mode: the knobs of the workload that bench/METHODOLOGY.md names, of which rate,
// producers, sessions and consumers are scaled to the machine by complete.
func DefaultOptions(mode string) Options {
	o := Options{
		Mode: mode, Via: ViaSQL, Acks: AcksGathered,
		Skew: 1.1, PushBatch: 20, BytesMin: 256, BytesMax: 2048,
		Groups: 2, Wait: time.Second, Lease: 30 * time.Second,
		Work: 20 * time.Millisecond, Jitter: 0.5, SlowPercent: 1, SlowWork: 200 * time.Millisecond,
		FailPercent: 1, PoisonPercent: 0.1, MaxAttempts: 5, BackoffMin: 100 * time.Millisecond, BackoffMax: time.Second,
		ForwardPercent: 5, SecondWork: 5 * time.Millisecond,
		Retention: 2 * time.Minute, TTL: time.Hour,
		Duration: time.Minute, Drain: 10 * time.Minute, Connections: 8, Seed: 1,
	}
	if mode == Soak {
		o.Duration = time.Hour
	}
	return o
}

// The original's numbers.
const (
	originalRate            = 12_000
	originalProducers       = 300
	originalSessions        = 5_000
	originalConsumers       = 400
	originalSecondConsumers = 80
	originalReceiveBatch    = 100 // of one consumer
	receiveBatchMax         = 10_000
	overload                = 2 // times the balanced rate
)

// complete fills in what is left open and checks the rest.
func (o *Options) complete() error {
	if o.Scale == 0 {
		o.Scale = float64(runtime.NumCPU()) / originalCores
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Live == nil {
		o.Live = io.Discard
	}
	scaled := func(value *int, original int) {
		if *value == 0 {
			*value = max(1, int(math.Round(float64(original)*o.Scale)))
		}
	}
	if o.Ahead == 0 { // else the rate may be left to it
		rate := originalRate
		if o.Mode == Overload {
			rate *= overload
		}
		scaled(&o.Rate, rate)
	}
	scaled(&o.Producers, originalProducers)
	scaled(&o.Sessions, originalSessions)
	scaled(&o.Consumers, originalConsumers)
	scaled(&o.SecondConsumers, originalSecondConsumers)
	o.Sessions = max(o.Sessions, o.Producers)
	if o.ReceiveBatch == 0 && o.Acks == AcksGathered {
		o.ReceiveBatch = min(o.Consumers*originalReceiveBatch, receiveBatchMax)
	} else if o.ReceiveBatch == 0 {
		o.ReceiveBatch = originalReceiveBatch
	}
	return o.check()
}

// retentionLeast is long enough for a server to come back and be asked what was sent before.
const retentionLeast = 30 * time.Second

func (o *Options) check() error {
	percent := func(v float64) bool { return v >= 0 && v <= 100 }
	switch {
	case o.Mode != Balanced && o.Mode != Overload && o.Mode != Soak:
		return optionf("no mode %q; there are balanced, overload and soak", o.Mode)
	case o.Via != ViaSQL && o.Via != ViaHTTP:
		return optionf("no way %q; there are sql and http", o.Via)
	case o.Acks != AcksGathered && o.Acks != AcksEach:
		return optionf("no acks %q; there are gathered and each", o.Acks)
	case o.Rate < 0 || o.Ahead < 0 || o.Rate == 0 && o.Ahead == 0:
		return optionf("a rate of %d and %d ahead; one must be above 0", o.Rate, o.Ahead)
	case o.Producers < 1 || o.Sessions < 1:
		return optionf("%d producers for %d sessions; at least one of each is needed", o.Producers, o.Sessions)
	case o.PushBatch < 1 || o.PushBatch > 1000:
		return optionf("pushes of %d; 1 to 1,000 are possible", o.PushBatch)
	case o.BytesMin < bytesMin || o.BytesMax < o.BytesMin || o.BytesMax > 1<<20:
		return optionf("payloads of %d to %d bytes; %d to 1 MB are possible", o.BytesMin, o.BytesMax, bytesMin)
	case o.Groups < 1 || o.Groups > 100 || o.Consumers < 1 || o.SecondConsumers < 1 || o.Connections < 1:
		return optionf("%d groups, %d consumers, %d of the second queue and %d connections; at least one of each is needed",
			o.Groups, o.Consumers, o.SecondConsumers, o.Connections)
	case o.ReceiveBatch < 0 || o.ReceiveBatch > receiveBatchMax:
		return optionf("receives of %d; 0 to 10,000 are possible", o.ReceiveBatch)
	case !percent(o.SlowPercent) || !percent(o.FailPercent) || !percent(o.PoisonPercent) || !percent(o.ForwardPercent):
		return optionf("percentages of %g slow, %g failing, %g poison and %g forwarded; 0 to 100 are possible",
			o.SlowPercent, o.FailPercent, o.PoisonPercent, o.ForwardPercent)
	case o.Jitter < 0 || o.Jitter > 1 || o.Work < 0 || o.SlowWork < 0 || o.SecondWork < 0:
		return optionf("work of %v, give or take %g of it, and of %v; none may be negative, and the jitter at most 1",
			o.Work, o.Jitter, o.SlowWork)
	case o.MaxAttempts < 1 || o.Messages < 0 || o.Duration <= 0 || o.Drain <= 0:
		return optionf("%d attempts, %d messages, %v of sending and %v to drain; attempts and times must be above 0",
			o.MaxAttempts, o.Messages, o.Duration, o.Drain)
	case o.KillPostgres < 0 || o.KillPostgres > 0 && o.DSN != "":
		return optionf("a kill of PostgreSQL every %v; it must be above 0, and the server one that is started here",
			o.KillPostgres)
	case o.KillPostgres > 0 && o.Retention < retentionLeast:
		return optionf("a retention of %v; where PostgreSQL is killed it must be %v at least, so that what was sent can be "+
			"looked for", o.Retention, retentionLeast)
	}
	return nil
}

// capacity is how many messages a second a group's handlers can do, if they never waited.
func (o *Options) capacity() float64 {
	slow := o.SlowPercent / 100
	mean := (1-slow)*o.Work.Seconds() + slow*max(o.Work, o.SlowWork).Seconds()
	if mean == 0 {
		return math.Inf(1)
	}
	return float64(o.Consumers) / mean
}
