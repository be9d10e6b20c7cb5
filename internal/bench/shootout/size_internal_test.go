package shootout

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/weirmq/weir/bench"
)

// modelled is a shootout in which a message costs exactly what the model says, in CPU and in WAL.
func modelled(cost [terms]float64) *Shootout {
	s := &Shootout{}
	for _, w := range Workloads() {
		x, ok := exercise(w)
		if !ok {
			continue
		}
		cpu, wal := dot(cost, x), 10*dot(cost, x)
		s.Results = append(s.Results, Result{
			System: "weir", Title: "Weir", Setting: "best", Workload: w.Name, Repetition: 1, Rate: 1, ServerCPU: &cpu, WAL: &wal,
		})
	}
	return s
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
		!strings.Contains(size.Fitted, "CPUs") {
		t.Errorf("fitted to %d workloads of %s: %v cores, off by %+v and %+v", size.Workloads, size.Fitted, size.CPU,
			size.CPUError, size.WALError)
	}
}
