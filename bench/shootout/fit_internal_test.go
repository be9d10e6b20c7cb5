package shootout

import (
	"errors"
	"math"
	"testing"

	"github.com/weirmq/weir/internal/bench/size"
)

// modelled is a shootout in which a message costs exactly what the model says, in CPU, in WAL and on disk, and a
// connection what connectionMB says.
func modelled(cost size.Terms) *Shootout {
	s := &Shootout{}
	for _, w := range Workloads() {
		x, ok := exercise(w)
		if !ok {
			continue
		}
		cpu, wal := cost.Dot(x), 10*cost.Dot(x)
		r := Result{
			System: "weir", Title: "Weir", Setting: "best", Workload: w.Name, Repetition: 1, Rate: 1, ServerCPU: &cpu, WAL: &wal,
			Sent: 1e6, Seconds: 1,
		}
		for i := range 3 {
			r.Samples = append(r.Samples, Sample{
				At: float64(i) / 2, Done: int64(i) * 5e5, TableBytes: 1e7 + int64(float64(i)*5e5*20*cost.Dot(x)), IndexBytes: 1e6,
			})
		}
		if x, ok := occupies(w); ok {
			r.ServerMB = connectionMB.Dot(x)
		}
		s.Results = append(s.Results, r)
	}
	return s
}

// connectionMB are 20 MB and a little for each connection and each KB of its batch.
var connectionMB = size.Terms{20, 2, 6, 0.01}

func TestAModelIsWhatWasMeasuredAndTellsHowFarItIsFromThat(t *testing.T) {
	t.Parallel()
	want := size.Terms{200, 2, 3, 300, 4, 1}
	s := modelled(want)
	m, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]struct {
		fit  size.Fit
		want size.Terms
		each float64
	}{
		"CPU": {m.CPU, want, 1}, "WAL": {m.WAL, want, 10}, "stored": {m.Stored, want, 20},
		"backend": {m.Backend, connectionMB, 1},
	} {
		for i, term := range f.want {
			if got := f.fit.Terms[i] / f.each; math.Abs(got-term) > 0.02*max(1, term) {
				t.Errorf("%s: term %d is %v, want %v", name, i, got, term)
			}
		}
		if f.fit.Off.N < 4 || f.fit.Off.Max > 0.02 {
			t.Errorf("%s: off by %+v", name, f.fit.Off)
		}
	}
	if m.Workloads < len(want) || m.Peak.N != 0 || m.Payloads != [2]int{22, 10_240} || m.Batches != [2]int{1, 1000} {
		t.Errorf("the model is of %+v", m)
	}
	var all []cost
	for _, t := range s.Tables() {
		all = append(all, t.Rows[0].cost(t.Workload))
	}
	all[0].stored *= 2
	all[0].backendMB *= 2
	all[0].serverCPU *= 2
	all[0].rate, all[0].peakMB = 1000, 1
	if m := model(all); m.CPU.Off.Max < 0.2 || m.Stored.Off.Max < 0.2 || m.Backend.Off.Max < 0.2 || m.Peak.Max < 10 {
		t.Errorf("measurements far from the model are off by %+v, %+v, %+v and %+v", m.CPU.Off, m.Stored.Off, m.Backend.Off,
			m.Peak)
	}
}

func TestNoModelIsFittedToFewerMeasurementsThanItHasTerms(t *testing.T) {
	t.Parallel()
	s := modelled(size.Terms{1, 1, 1, 1, 1, 1})
	s.Results = s.Results[:len(size.Terms{})-1]
	if _, err := s.Model(); !errors.Is(err, ErrOptions) {
		t.Errorf("fitted to %d measurements: %v", len(s.Results), err)
	}
}

func TestWhatAMessageTakesOnDiskIsMeasuredOnlyWhereNothingIsGivenBack(t *testing.T) {
	t.Parallel()
	r := Result{Sent: 1000, Seconds: 2, Samples: []Sample{
		{At: 1, Done: 100, TableBytes: 5000}, {At: 2, Done: 300, TableBytes: 9000, IndexBytes: 1000},
	}}
	if bytes, ok := r.stored(Workload{Consumers: 1}); !ok || math.Round(bytes) != 25 {
		t.Errorf("received: %v bytes, %v", bytes, ok)
	}
	if bytes, ok := r.stored(Workload{Producers: 1}); !ok || math.Round(bytes) != 10 { // half of the run's 1,000
		t.Errorf("sent: %v bytes, %v", bytes, ok)
	}
	r.Samples = append(r.Samples, Sample{At: 3, Done: 400, TableBytes: 6000})
	if bytes, ok := r.stored(Workload{Consumers: 1}); ok || !r.turned() {
		t.Errorf("%v bytes of a queue that gave space back", bytes)
	}
}
