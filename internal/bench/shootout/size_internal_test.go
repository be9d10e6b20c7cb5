package shootout

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/weirmq/weir/bench"
)

// modelled is a shootout in which a message costs exactly what the model says, in CPU, in WAL and on disk, and a
// connection what connectionMB says.
func modelled(cost [terms]float64) *Shootout {
	s := &Shootout{}
	for _, w := range Workloads() {
		x, ok := exercise(w)
		if !ok {
			continue
		}
		cpu, wal := dot(cost, x), 10*dot(cost, x)
		r := Result{
			System: "weir", Title: "Weir", Setting: "best", Workload: w.Name, Repetition: 1, Rate: 1, ServerCPU: &cpu, WAL: &wal,
			Sent: 1e6, Seconds: 1,
		}
		for i := range 3 {
			r.Samples = append(r.Samples, Sample{
				At: float64(i) / 2, Done: int64(i) * 5e5, TableBytes: 1e7 + int64(float64(i)*5e5*20*dot(cost, x)), IndexBytes: 1e6,
			})
		}
		if x, ok := occupies(w); ok {
			r.ServerMB = dot(connectionMB, x)
		}
		s.Results = append(s.Results, r)
	}
	return s
}

// connectionMB are 20 MB and a little for each connection and each KB of its batch.
var connectionMB = [terms]float64{20, 2, 6, 0.01}

func TestASizeOnDiskAndInMemoryIsWhatWasMeasuredAndTellsHowFarItIsFromThat(t *testing.T) {
	t.Parallel()
	costs, err := modelled([terms]float64{200, 2, 3, 300, 4, 1}).Costs()
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Rate: 1000, FanOut: 2, Payload: 512, Batch: 10, Keep: 60}
	size, err := costs.Estimate(target)
	if err != nil {
		t.Fatal(err)
	}
	message := 20 * (20 + 2 + 1.5 + 2*(30+4+0.5)) // bytes
	disk := 67.1 + 1000*message*(1.5+3*60)/1e6
	backends := 20.0 + 10*2 + 10*6 + 20*5*0.01
	if math.Abs(size.DiskMB/disk-1) > 0.02 || math.Abs(size.BackendMB/backends-1) > 0.02 {
		t.Errorf("%v MB on disk and %v MB of backends, want %v and %v", size.DiskMB, size.BackendMB, disk, backends)
	}
	if size.StoredError.N < terms || size.StoredError.Max > 0.02 || size.BackendError.N < 4 ||
		size.BackendError.Max > 0.02 {
		t.Errorf("off by %+v and %+v", size.StoredError, size.BackendError)
	}
	var out bytes.Buffer
	if size.WriteTable(&out); !strings.Contains(out.String(), "disk at most\tnot measured") {
		t.Errorf("no queue gave space back, and the table is %s", out.String())
	}
	costs.Workloads[0].Stored *= 2
	costs.Workloads[0].BackendMB *= 2
	costs.Workloads[0].Rate, costs.Workloads[0].PeakMB = 1000, 1
	if size, err = costs.Estimate(target); err != nil || size.StoredError.Max < 0.2 || size.BackendError.Max < 0.2 ||
		size.PeakError.Max < 10 {
		t.Errorf("measurements far from the model are off by %+v, %+v and %+v: %v", size.StoredError, size.BackendError,
			size.PeakError, err)
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

func TestASizeIsWhatTheMeasurementsSayAndTellsHowFarItIsFromThem(t *testing.T) {
	t.Parallel()
	cost := [terms]float64{200, 2, 3, 300, 4, 1}
	target := Target{Rate: 1000, FanOut: 2, Payload: 512, Batch: 10, Keep: 60}
	costs, err := modelled(cost).Costs()
	if err != nil {
		t.Fatal(err)
	}
	size, err := costs.Estimate(target)
	if err != nil {
		t.Fatal(err)
	}
	// A message: 200/10 + 2 + 3/2 to send, twice 300/10 + 4 + 1/2 to receive; a thousand a second, in millionths.
	want := 1000 * (20 + 2 + 1.5 + 2*(30+4+0.5)) / 1e6
	if math.Abs(size.CPU/want-1) > 0.02 || math.Abs(size.WALMB/(10*want)-1) > 0.02 {
		t.Errorf("%v cores and %v MB of WAL a second, want %v and %v", size.CPU, size.WALMB, want, 10*want)
	}
	if size.CPUError.Max > 0.02 || size.Workloads < terms {
		t.Errorf("off by %+v of %d workloads", size.CPUError, size.Workloads)
	}
	costs.Workloads[0].ServerCPU *= 2
	if size, err = costs.Estimate(target); err != nil || size.CPUError.Max < 0.2 {
		t.Errorf("a measurement twice as high as the model says is off by %+v: %v", size.CPUError, err)
	}
}

func TestASizeOfNonsenseIsRefusedAndOneBeyondTheMeasurementsSaysSo(t *testing.T) {
	t.Parallel()
	measured := modelled([terms]float64{1, 1, 1, 1, 1, 1})
	s, err := measured.Costs()
	if err != nil {
		t.Fatal(err)
	}
	good := Target{Rate: 1000, FanOut: 1, Payload: 256, Batch: 100, Keep: 60}
	for _, spoil := range []func(*Target){
		func(t *Target) { t.Rate = 0 }, func(t *Target) { t.Rate = math.NaN() }, func(t *Target) { t.Rate = math.Inf(1) },
		func(t *Target) { t.Keep = -1 }, func(t *Target) { t.Keep = math.NaN() }, func(t *Target) { t.FanOut = 0 },
		func(t *Target) { t.Payload = 0 }, func(t *Target) { t.Batch = -5 },
	} {
		bad := good
		spoil(&bad)
		if size, err := s.Estimate(bad); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v takes %+v: %v", bad, size, err)
		}
	}
	few := &Shootout{Results: measured.Results[:terms-1]}
	if _, err := few.Costs(); !errors.Is(err, ErrOptions) {
		t.Errorf("fitted %d terms to %d measurements: %v", terms, terms-1, err)
	}
	for _, c := range []struct {
		payload int
		beyond  bool
	}{{256, false}, {1_000_000, true}} {
		target := good
		target.Payload = c.payload
		size, err := s.Estimate(target)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		size.WriteTable(&out)
		if strings.Contains(out.String(), "outside of what was measured") != c.beyond {
			t.Errorf("payloads of %d bytes: %s", c.payload, out.String())
		}
	}
}

func TestTheProgramBringsMeasurementsThatASizeCanBeFittedTo(t *testing.T) {
	t.Parallel()
	costs, err := ReadCosts(bench.Sizes)
	if err != nil {
		t.Fatal(err)
	}
	size, err := costs.Estimate(Target{Rate: 10_000, FanOut: 2, Payload: 512, Batch: 100, Keep: 60})
	if err != nil {
		t.Fatal(err)
	}
	if size.Workloads < 10 || size.CPU <= 0 || size.CPUError.Median > 0.25 || size.WALError.Median > 0.1 ||
		size.StoredError.Median > 0.15 || size.BackendError.Median > 0.15 || size.PeakError.N == 0 ||
		size.PeakError.Max > 0.3 || !strings.Contains(size.Fitted, "CPUs") {
		t.Errorf("fitted to %d workloads of %s: %v cores, off by %+v and %+v", size.Workloads, size.Fitted, size.CPU,
			size.CPUError, size.WALError)
	}
}
