package shootout

import (
	"fmt"
	"slices"
)

// Workload is what is done to a system in one run. Zero fields do not apply.
type Workload struct {
	Name    string `json:"name"`
	Section string `json:"section"` // of the report
	About   string `json:"about"`

	Producers int     `json:"producers,omitempty"`
	Consumers int     `json:"consumers,omitempty"` // of each group
	Batch     int     `json:"batch,omitempty"`     // messages a send and a receive
	Bytes     int     `json:"bytes,omitempty"`     // of a payload's JSON text
	Preload   int64   `json:"preload,omitempty"`   // messages that wait when it begins
	Timed     bool    `json:"timed,omitempty"`     // the load lasts as long as a run is to last; else until all is done
	Rate      float64 `json:"rate,omitempty"`      // messages a second, each planned; 0: as fast as it goes
	Burst     float64 `json:"burst,omitempty"`     // further messages a second during the third fifth of the run
	Window    int64   `json:"window,omitempty"`    // producers stay at most so many messages ahead
	Late      bool    `json:"late,omitempty"`      // consumers begin when the producers have ended
	Groups    int     `json:"groups,omitempty"`
	Keys      int     `json:"keys,omitempty"`
	Hold      string  `json:"hold,omitempty"` // "reader" or "writer": a transaction is open all the time
	Kill      string  `json:"kill,omitempty"` // "worker" or "postgres": by SIGKILL in the middle
	Perpetual bool    `json:"perpetual,omitempty"`
	Ramp      []int   `json:"ramp,omitempty"`       // so many workers, until the rate has passed its peak
	CommitOff bool    `json:"commit_off,omitempty"` // synchronous_commit = off
	LeaseS    int     `json:"lease_s,omitempty"`
	HandlerMS int     `json:"handler_ms,omitempty"` // that a handler takes
	Processes int     `json:"processes,omitempty"`  // of workers, each with as many consumers; 0: as the system has it
	Against   string  `json:"against,omitempty"`    // the workload that it is held against, by the ratio of their rates
	Long      int     `json:"long,omitempty"`       // times as long as others
	Once      bool    `json:"once,omitempty"`       // not repeated: done when all others are
}

// Sections of the report, in their order.
const (
	sectionThroughput = "Throughput"
	sectionJobs       = "Jobs"
	sectionLatency    = "Latency"
	sectionFanOut     = "Fan-out and keys"
	sectionHandlers   = "Handlers that take time"
	sectionTrouble    = "Trouble"
)

var sections = []string{
	sectionThroughput, sectionJobs, sectionLatency, sectionFanOut, sectionHandlers, sectionTrouble,
}

const (
	windowMessages  = 20_000
	fanOutMessages  = 200_000 // with fewer the start is most of it for the fastest
	backlogMessages = 400_000 // so that the fastest are not measured on cold plans alone; as weir bench consume
	leaseS          = 5
	heldFree        = "held-free"
)

// workers are the steps of a ramp. The seed takes them one by one; the differences shrink as the numbers grow.
func workers() []int { return []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128} }

// Workloads returns all, those that tell most first.
func Workloads() []Workload {
	all := []Workload{
		{
			Name: "send-100", Section: sectionThroughput, About: "4 producers send batches of 100",
			Producers: 4, Batch: 100, Bytes: 22, Timed: true,
		},
		consume(4, 100), cycle(100, 22), jobs(false), latency("latency-100", 100),
		latency("latency-1000", 1000), cycle(1, 22), held(""), held("reader"), held("writer"),
		{
			Name: "send-1", Section: sectionThroughput, About: "4 producers send one message a call",
			Producers: 4, Batch: 1, Bytes: 22, Timed: true,
		},
		consume(4, 1), consume(4, 1000), fanOut(1), fanOut(5), keys(100),
		kill("worker", "the workers"), kill("postgres", "PostgreSQL"),
	}
	all = append(all, published()...)
	all = append(all, jobs(true), idle(), latency("latency-5000", 5000), fanOut(2), fanOut(10),
		keys(10), keys(1000), keys(10_000),
		Workload{
			Name: "backlog", Section: sectionTrouble, About: "producers alone, then consumers drain what has grown",
			Producers: 2, Consumers: 4, Batch: 100, Bytes: 256, Late: true, Timed: true,
		},
		Workload{
			Name: "burst", Section: sectionLatency, About: "200 messages a second, and 2,000 more for a fifth of the time",
			Producers: 2, Consumers: 4, Batch: 1, Bytes: 256, Rate: 200, Burst: 2000, Timed: true,
		})
	for _, ms := range []int{1, 10, 100} {
		for _, processes := range []int{1, 4, 16} {
			all = append(all, handlers(ms, processes))
		}
	}
	for _, bytes := range []int{22, 256, 1024, 10_240} {
		for _, batch := range []int{1, 10, 100, 1000} {
			if bytes != 22 || batch != 1 && batch != 100 {
				all = append(all, cycle(batch, bytes))
			}
		}
	}
	soak := cycle(100, 256)
	soak.Name, soak.Section, soak.About, soak.Long = "soak", sectionTrouble, "the cycle for ten times as long", 10
	return append(all, soak)
}

// published are the workloads that other systems have published figures of, with their parameters.
func published() []Workload {
	return []Workload{
		{
			Name: "pgmq-5x40", Section: sectionThroughput,
			About:     "5 producers and 40 consumers, 10 messages a call, as PGMQ publishes it",
			Producers: 5, Consumers: 40, Batch: 10, Bytes: 22, Window: windowMessages, Timed: true,
		},
		{
			Name: "enqueue", Section: sectionThroughput,
			About:     "39 producers of one message a call, as published for the plain table",
			Producers: 39, Batch: 1, Bytes: 22, Timed: true,
		},
		consume(44, 1),
		{
			Name: "enqueue-dequeue", Section: sectionThroughput,
			About:     "39 producers and 50 consumers of one message a call, likewise",
			Producers: 39, Consumers: 50, Batch: 1, Bytes: 22, Window: windowMessages, Timed: true,
		},
	}
}

func consume(consumers, batch int) Workload {
	w := Workload{
		Name: name("consume-", batch), Section: sectionThroughput,
		About:     name(consumers, " consumers receive and finish a backlog, at most ", batch, " messages a call"),
		Consumers: consumers, Batch: batch, Bytes: 22, Preload: backlogMessages, Timed: true,
	}
	if consumers == 44 {
		w.Name = "dequeue"
	}
	return w
}

func jobs(commitOff bool) Workload {
	w := Workload{
		Name: "jobs", Section: sectionJobs,
		About: "jobs that send themselves again; 1, 2, 3... workers until the peak is past",
		Batch: 1, Bytes: 22, Preload: 1000, Perpetual: true, Ramp: workers(), Timed: true, CommitOff: commitOff,
	}
	if commitOff {
		w.Name, w.About = "jobs-commit-off", "the same with synchronous_commit off"
	}
	return w
}

func cycle(batch, bytes int) Workload {
	return Workload{
		Name: name("cycle-", batch, sized(bytes)), Section: sectionThroughput,
		About:     name("4 producers and 4 consumers at once, batches of ", batch, ", payloads of ", bytes, " bytes"),
		Producers: 4, Consumers: 4, Batch: batch, Bytes: bytes, Window: windowMessages, Timed: true,
	}
}

// sized is what tells a payload from the usual one.
func sized(bytes int) string {
	if bytes == 22 {
		return ""
	}
	return name("-", bytes, "B")
}

func latency(title string, rate float64) Workload {
	return Workload{
		Name: title, Section: sectionLatency, About: name("an open loop of ", int(rate), " messages a second"),
		Producers: 2, Consumers: 4, Batch: 1, Bytes: 256, Rate: rate, Timed: true,
	}
}

// idle takes longer, because of ten messages no figure is worth much, and the first of them meet cold plans.
func idle() Workload {
	w := latency("idle", 10)
	w.Long = 5
	return w
}

func fanOut(groups int) Workload {
	return Workload{
		Name: name("fan-out-", groups), Section: sectionFanOut,
		About:     name("a backlog that ", groups, " groups receive, each all of it, by one consumer each"),
		Consumers: 1, Batch: 100, Bytes: 256, Preload: fanOutMessages, Groups: groups,
	}
}

func keys(n int) Workload {
	return Workload{
		Name: name("keys-", n), Section: sectionFanOut,
		About:     name("messages of ", n, " keys, each key's in order, to 4 consumers"),
		Producers: 1, Consumers: 4, Batch: 100, Bytes: 256, Keys: n, Window: windowMessages, Timed: true,
	}
}

// handlers are busy all the time at best: then a process with ten of them does 10 messages a handler's time.
func handlers(ms, processes int) Workload {
	const each, seconds = 10, 10 // more than a run is to last
	ideal := processes * each * 1000 / ms
	return Workload{
		Name: name("handlers-", ms, "ms-", processes), Section: sectionHandlers,
		About: name(processes, " processes of ", each, " handlers of ", ms, " ms drain a backlog; ", ideal,
			" messages a second if all are busy"),
		Consumers: each, Processes: processes, HandlerMS: ms, Batch: 1, Bytes: 22, Timed: true,
		Preload: int64(min(ideal*seconds, backlogMessages)),
	}
}

func held(by string) Workload {
	w := cycle(100, 22)
	w.Name, w.About, w.Hold, w.Section, w.Long = heldFree, "the cycle, nothing held open", by, sectionTrouble, 3
	w.Against = heldFree
	if by != "" {
		w.Name, w.About = "held-"+by, "the cycle beside a "+by+"'s open transaction"
	}
	return w
}

func kill(what, whom string) Workload {
	return Workload{
		Name: "kill-" + what, Section: sectionTrouble,
		About:     "kill -9 of " + whom + " in the middle; 200 messages a second",
		Producers: 1, Consumers: 4, Batch: 1, Bytes: 256, Rate: 200, Timed: true, Kill: what, LeaseS: leaseS, Long: 2,
	}
}

func name(parts ...any) string { return fmt.Sprint(parts...) }

// small are the workloads as briefly as they can be.
func small(all []Workload) []Workload {
	var less []Workload
	for _, w := range all {
		w.Preload, w.Long, w.Ramp = min(w.Preload/20, 5000), 0, w.Ramp[:min(2, len(w.Ramp))]
		w.Producers, w.Consumers, w.Processes = min(w.Producers, 4), min(w.Consumers, 4), min(w.Processes, 2)
		if w.LeaseS > 0 {
			w.LeaseS = 1
		}
		less = append(less, w)
	}
	return less
}

// Of a quick shootout: what is repeated, and what is done once when that is done, those that may take long last.
var (
	quickRepeated = []string{
		"send-100", "consume-100", "cycle-100", "cycle-1", "jobs", "latency-100", "latency-1000", heldFree, "held-reader",
		"held-writer",
	}
	quickOnce = []string{
		"fan-out-5", "keys-100", "backlog", "burst", "pgmq-5x40", "idle", "handlers-10ms-4", "jobs-commit-off",
		"kill-worker", "kill-postgres",
	}
)

// quick are the workloads that tell most, with shorter ramps, and some of every other kind: for when there is little
// time.
func quick(all []Workload) []Workload {
	var less []Workload
	for i, name := range slices.Concat(quickRepeated, quickOnce) {
		at := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name })
		if at < 0 {
			continue
		}
		w := all[at]
		if w.Ramp != nil {
			w.Ramp = []int{1, 8, 64}
		}
		w.Long, w.Once = min(w.Long, 5), i >= len(quickRepeated)
		less = append(less, w)
	}
	return less
}
