package shootout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/bench/shootout"
	"github.com/weirmq/weir/test/chromium"
)

// contest is a shootout of all systems in some workloads of each kind, with figures that are far apart.
func contest() *shootout.Shootout {
	s := &shootout.Shootout{Machine: shootout.Machine{CPUs: 2, CPU: "AMD EPYC", Server: "PostgreSQL 18.6"}}
	for i, one := range [][2]string{
		{"weir", "Weir, SQL"},
		{"pgq", "PgQ"},
		{"weir-go", "Weir, Go worker"},
		{"table", "plain table"},
		{"pgmq", "PGMQ"},
		{"weir-http", "Weir, HTTP"},
		{"queen", "Queen"},
		{"weir-python", "Weir, Python worker"},
		{"river", "River"},
		{"weir-typescript", "Weir, TypeScript worker"},
		{"graphile-worker", "graphile-worker"},
		{"pg-boss", "pg-boss"},
		{"pgqueuer", "pgqueuer"},
		{"procrastinate", "procrastinate"},
		{"awa", "awa"},
		{"delayed-job", "DelayedJob"},
	} {
		rank, system, title := i+1, one[0], one[1]
		for _, workload := range []string{"send-100", "cycle-1", "jobs", "held-free", "held-writer", "latency-100", "idle"} {
			for i := range 9 {
				rate, cpu := 400_000/float64(rank*rank*rank)+1000*float64(i%3), 1.5*float64(rank)
				r := shootout.Result{
					System: system, Title: title, Setting: "best", Workload: workload, Repetition: i%3 + 1, Rate: rate,
					ServerCPU: &cpu,
				}
				for at := range 4 {
					r.Samples = append(r.Samples, shootout.Sample{At: float64(at), TableBytes: int64(rank+at) * 1e6})
				}
				switch {
				case workload == "latency-100" || workload == "idle":
					r.Latency = &shootout.Latency{P50: 2 * float64(rank), P95: 20, P99: 40 * float64(rank), P999: 800, Max: 900}
				case workload == "jobs":
					r.Workers = []int{1, 2, 4}[i/3]
				case i >= 3:
					r.Setting, r.Rate = "default", rate/2
				}
				s.Results = append(s.Results, r)
			}
		}
	}
	return s
}

// What a page may not do, as the texts of what does it: be wider than the window, let a text of a bar leave its card,
// or lay the names at a chart's lines over each other.
const crowded = `(() => {
	const wrong = [], wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
	if (wide > 0) wrong.push("the page is too wide by " + wide);
	for (const card of document.querySelectorAll(".card")) {
		const box = card.getBoundingClientRect();
		for (const e of card.querySelectorAll(".track span, .label")) {
			const r = e.getBoundingClientRect();
			if (r.right > box.right + 1 || r.left < box.left - 1) wrong.push(card.id + ": outside is " + e.textContent);
		}
		for (const svg of card.querySelectorAll("svg")) {
			const names = [...svg.querySelectorAll("g.item text")].map((e) => e.getBoundingClientRect());
			names.sort((a, b) => a.top - b.top);
			names.forEach((r, i) => {
				if (i && r.top < names[i - 1].top + 0.7 * r.height) wrong.push(card.id + ": names are over each other");
			});
		}
	}
	return wrong.slice(0, 5);
})()`

func TestTheReportOfAShootoutIsDrawnWithoutCrowdingOnDesktopAndPhoneByDayAndNight(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	notes := []byte("## Where Weir loses, and why\n\n**PgQ** is one reader.\n")
	if err := os.WriteFile(filepath.Join(dir, "shootout-notes.md"), notes, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := contest().WriteReports(dir); err != nil {
		t.Fatal(err)
	}
	b := chromium.Open(t)
	for _, c := range []struct {
		name, scheme string
		width        int64
	}{
		{"desktop-light", "light", 1280},
		{"desktop-dark", "dark", 1280},
		{"phone-light", "light", 390},
		{"phone-dark", "dark", 390},
	} {
		b.Do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{
			Name: "prefers-color-scheme", Value: c.scheme,
		}}), chromedp.EmulateViewport(c.width, 900), chromedp.Navigate("file://"+filepath.Join(dir, "shootout.html")))
		for _, press := range []string{"", "logarithmic", "both settings", "each at its defaults"} {
			if press != "" {
				b.Press(".controls", press)
			}
			var wrong []string
			b.Do(chromedp.Evaluate(crowded, &wrong))
			for _, text := range wrong {
				t.Errorf("%s %s: %s", c.name, press, text)
			}
		}
		b.Press(".controls", "each at its best")
		b.Press(".controls", "linear")
		b.Picture("shootout-" + c.name)
	}
}

func TestTheReportShowsWhatIsChosenAndLeavesOutWhoIsPressed(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contest().WriteReports(dir); err != nil {
		t.Fatal(err)
	}
	b := chromium.Open(t)
	b.Do(chromedp.Navigate("file://" + filepath.Join(dir, "shootout.html")))
	count := func(selector string) int {
		n := 0
		b.Do(chromedp.Evaluate(fmt.Sprintf("document.querySelectorAll(%q).length", selector), &n))
		return n
	}
	if n := count("#send-100 .bar"); n != 16 {
		t.Errorf("%d bars of sends, want one of each of the 16 systems", n)
	}
	b.Press("#legend", "PGMQ")
	if n := count("#send-100 .bar"); n != 15 {
		t.Errorf("%d bars of sends without PGMQ", n)
	}
	b.Press("#legend", "PGMQ")
	b.Press(".controls", "both settings")
	if n := count("#send-100 .bar"); n != 32 {
		t.Errorf("%d bars of sends at both settings", n)
	}
	b.Press(".controls", "each at its best")
	if n := count("#latency-100 .dot"); n != 16 {
		t.Errorf("%d dots of latency", n)
	}
	if n := count("#jobs svg g.item"); n != 16 {
		t.Errorf("%d lines of jobs by workers", n)
	}
	b.Do(chromedp.Evaluate(`by("figure").value = "server_cpu"; by("figure").dispatchEvent(new Event("change"))`, nil))
	if n := count("#jobs svg"); n != 0 {
		t.Errorf("%d charts of workers beside those of CPU", n)
	}
	b.Do(chromedp.Evaluate(`document.querySelectorAll("#send-100 summary").forEach((e) => e.click())`, nil))
	b.Wait("document.querySelector('#send-100 table')?.innerText.includes(%s)", "server CPU, s a million")
}
