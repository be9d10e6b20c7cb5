package size_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/bench/size"
)

// model is one of simple numbers.
func model() *size.Model {
	costs := size.Terms{200, 2, 3, 300, 4, 1}
	return &size.Model{
		Payloads: [2]int{22, 10_240}, Batches: [2]int{1, 1000}, CPU: size.Fit{Terms: costs, Off: size.Off{N: 9}},
		WAL: size.Fit{Terms: costs}, Stored: size.Fit{Terms: costs}, Backend: size.Fit{Terms: size.Terms{20, 2, 6, 0.01}},
	}
}

func TestAnEstimateIsWhatTheModelSays(t *testing.T) {
	t.Parallel()
	e, err := model().Estimate(size.Target{Rate: 1000, FanOut: 2, Payload: 512, Batch: 10, Keep: 60})
	if err != nil {
		t.Fatal(err)
	}
	message := 20 + 2 + 1.5 + 2*(30+4+0.5)
	for name, is := range map[string][2]float64{
		"CPU": {e.CPU, 1000 * message / 1e6}, "WAL": {e.WALMB, 1000 * message / 1e6},
		"disk": {e.DiskMB, 67.1 + 1000*message*(1.5+3*60)/1e6}, "backends": {e.BackendMB, 20 + 10*2 + 10*6 + 20*5*0.01},
	} {
		if math.Abs(is[0]/is[1]-1) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, is[0], is[1])
		}
	}
	var out bytes.Buffer
	if e.WriteTable(&out); !strings.Contains(out.String(), "disk at most\tnot measured") {
		t.Errorf("no queue gave space back, and the table is %s", out.String())
	}
}

func TestATargetOfNonsenseIsRefusedAndOneBeyondTheMeasurementsSaysSo(t *testing.T) {
	t.Parallel()
	good := size.Target{Rate: 1000, FanOut: 1, Payload: 256, Batch: 100, Keep: 60}
	for _, spoil := range []func(*size.Target){
		func(t *size.Target) { t.Rate = 0 }, func(t *size.Target) { t.Rate = math.NaN() },
		func(t *size.Target) { t.Rate = math.Inf(1) }, func(t *size.Target) { t.Keep = -1 },
		func(t *size.Target) { t.Keep = math.NaN() }, func(t *size.Target) { t.FanOut = 0 },
		func(t *size.Target) { t.Payload = 0 }, func(t *size.Target) { t.Batch = -5 },
	} {
		bad := good
		spoil(&bad)
		if e, err := model().Estimate(bad); !errors.Is(err, size.ErrTarget) {
			t.Errorf("%+v takes %+v: %v", bad, e, err)
		}
	}
	for payload, beyond := range map[int]bool{256: false, 1_000_000: true} {
		target := good
		target.Payload = payload
		e, err := model().Estimate(target)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		e.WriteTable(&out)
		if strings.Contains(out.String(), "outside of what was measured") != beyond {
			t.Errorf("payloads of %d bytes: %s", payload, out.String())
		}
	}
}

func TestTheProgramBringsAModelThatIsNearToWhatWasMeasured(t *testing.T) {
	t.Parallel()
	m, err := size.Project()
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Estimate(size.Target{Rate: 10_000, FanOut: 2, Payload: 512, Batch: 100, Keep: 60})
	if err != nil {
		t.Fatal(err)
	}
	if m.Workloads < 10 || e.CPU <= 0 || e.WALMB <= 0 || m.CPU.Off.Median > 0.25 || m.WAL.Off.Median > 0.1 ||
		m.Stored.Off.Median > 0.15 || m.Backend.Off.Median > 0.15 || m.Peak.N == 0 || m.Peak.Max > 0.3 ||
		!strings.Contains(m.Fitted, "CPUs") {
		t.Errorf("%v cores, by %+v", e.CPU, m)
	}
}
