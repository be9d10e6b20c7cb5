package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// loadApp is the application_name of the connections that pgbench opens.
const loadApp = "weir-bench-load"

// load is one run of pgbench. Either transactions or duration is set.
type load struct {
	script       string // path of the file
	clients      int
	transactions int // for each client
	duration     time.Duration
	vars         map[string]string
	dsn          string
	sends        int64 // messages a transaction
	receives     int64 // messages a transaction, at most
}

// loadResult is what pgbench says about its run.
type loadResult struct {
	transactions int64
	elapsed      time.Duration // without the time to connect
	clientCPU    time.Duration // pgbench's own
	perSecond    []float64     // transactions in each full second
}

// run runs pgbench to its end. Any failed transaction fails the run: nothing in these workloads may fail.
func (l load) run(ctx context.Context, bin string) (loadResult, error) {
	clients := strconv.Itoa(l.clients)
	args := []string{"-n", "-M", "prepared", "-c", clients, "-j", clients, "-P", "1", "-f", l.script}
	if l.transactions > 0 {
		args = append(args, "-t", strconv.Itoa(l.transactions))
	} else {
		args = append(args, "-T", strconv.Itoa(wholeSeconds(l.duration)))
	}
	for name, value := range l.vars {
		args = append(args, "-D", name+"="+value)
	}
	cmd := exec.CommandContext(ctx, bin, append(args, l.dsn)...)
	cmd.Env = append(os.Environ(), "PGAPPNAME="+loadApp)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return loadResult{}, fmt.Errorf("%w: run pgbench: %w: %s", ErrLoad, err, complaints(stderr.String()))
	}
	res, err := parseLoad(stdout.String(), stderr.String())
	if err != nil {
		return res, fmt.Errorf("%w: %s", err, complaints(stderr.String()))
	}
	res.clientCPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return res, nil
}

// wholeSeconds is the form in which pgbench takes a duration.
func wholeSeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

var (
	processedPat = regexp.MustCompile(`(?m)^number of transactions actually processed: (\d+)`)
	failedPat    = regexp.MustCompile(`(?m)^number of failed transactions: (\d+)`)
	tpsPat       = regexp.MustCompile(`(?m)^tps = ([\d.]+) \(without initial connection time\)`)
	progressPat  = regexp.MustCompile(`(?m)^progress: [\d.]+ s, ([\d.]+) tps`)
)

// parseLoad reads pgbench's report and its progress lines.
func parseLoad(stdout, stderr string) (loadResult, error) {
	var res loadResult
	processed, failed, tps := number(processedPat, stdout), number(failedPat, stdout), number(tpsPat, stdout)
	switch {
	case math.IsNaN(processed) || math.IsNaN(failed) || math.IsNaN(tps) || tps <= 0:
		return res, fmt.Errorf("%w: cannot read pgbench's report %q", ErrLoad, stdout)
	case failed > 0:
		return res, fmt.Errorf("%w: %.0f transactions failed", ErrLoad, failed)
	}
	res.transactions = int64(processed)
	res.elapsed = time.Duration(processed / tps * float64(time.Second))
	for _, m := range progressPat.FindAllStringSubmatch(stderr, -1) {
		rate, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return res, fmt.Errorf("%w: read progress: %w", ErrLoad, err)
		}
		res.perSecond = append(res.perSecond, rate)
	}
	return res, nil
}

// number returns what the pattern's group matches, NaN when there is none.
func number(pat *regexp.Regexp, text string) float64 {
	m := pat.FindStringSubmatch(text)
	if m == nil {
		return math.NaN()
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return math.NaN()
	}
	return value
}

// complaints keeps the lines of pgbench's standard error that say what is wrong.
func complaints(stderr string) string {
	var kept []string
	for lines := bufio.NewScanner(strings.NewReader(stderr)); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "progress: ") && len(kept) < 5 {
			kept = append(kept, lines.Text())
		}
	}
	return strings.Join(kept, "; ")
}
