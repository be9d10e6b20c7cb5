package shootout

import "time"

// Result is one run. Figures that could not be taken are null.
type Result struct {
	Shootout   string    `json:"shootout"` // tells the runs of one shootout from those of another
	Began      time.Time `json:"began"`
	System     string    `json:"system"`
	Title      string    `json:"title"`
	Setting    string    `json:"setting"`
	Version    string    `json:"version"`
	Batches    string    `json:"batches,omitempty"` // as the adapter says
	Workload   string    `json:"workload"`
	Repetition int       `json:"repetition"`
	Workers    int       `json:"workers,omitempty"` // the step of a ramp
	Cannot     string    `json:"cannot,omitempty"`  // why the system cannot do it
	Error      string    `json:"error,omitempty"`   // how it failed
	LoadBefore float64   `json:"load_before"`       // the machine's load average over a minute

	Sent    int64   `json:"sent"`    // messages, by the database, with those that waited
	Done    int64   `json:"done"`    // messages finished, by the database, all groups together
	Seconds float64 `json:"seconds"` // that the figure is of
	Rate    float64 `json:"rate"`    // messages a second: sent when nobody consumes, else done

	Latency *Latency `json:"latency,omitempty"`

	ServerCPU  *float64 `json:"server_cpu,omitempty"` // seconds a million messages
	ClientCPU  *float64 `json:"client_cpu,omitempty"` // likewise; clients and what the system runs beside them
	WAL        *float64 `json:"wal,omitempty"`        // bytes a message
	Commits    *float64 `json:"commits,omitempty"`    // a message
	DeadTuples *float64 `json:"dead_tuples,omitempty"`
	ServerMB   float64  `json:"server_mb,omitempty"` // most private memory of all backends
	ClientMB   float64  `json:"client_mb,omitempty"` // most memory of all clients

	LeastShare *float64 `json:"least_share,omitempty"` // of a process of several, of the part that each should have

	Lost       int64 `json:"lost"`
	Duplicated int64 `json:"duplicated"`
	OutOfOrder int64 `json:"out_of_order"`
	Left       int64 `json:"left,omitempty"` // when the drain was cut short; not lost

	Samples []Sample `json:"samples,omitempty"`
}

// Latency is the distribution of the times from a message's planned sending to its handler, in milliseconds.
type Latency struct {
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// Sample is how the run stood at one time.
type Sample struct {
	At         float64 `json:"at"`   // seconds since it began
	Done       int64   `json:"done"` // messages received so far, by the clients
	TableBytes int64   `json:"table_bytes"`
	IndexBytes int64   `json:"index_bytes"`
	Dead       int64   `json:"dead"` // tuples, as the server knows
}

func (s Sample) tableMB() float64 { return float64(s.TableBytes) / 1e6 }

func (s Sample) indexMB() float64 { return float64(s.IndexBytes) / 1e6 }

func (s Sample) storageMB() float64 { return s.tableMB() + s.indexMB() }

// most returns the largest of a figure of the samples; 0 when there are none.
func (r *Result) most(of func(Sample) float64) *float64 {
	most := 0.0
	for _, s := range r.Samples {
		most = max(most, of(s))
	}
	return &most
}

// perMessage returns a pointer to a share, nil when there is nothing to share among.
func perMessage(amount float64, messages int64) *float64 {
	if messages <= 0 {
		return nil
	}
	share := amount / float64(messages)
	return &share
}
