package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// How often the readings are taken. A backend's last reading is at most a readEvery old when it ends.
const (
	readEvery = 5 * time.Millisecond
	findEvery = 20 // readings
)

// tick is the unit of times in /proc on Linux.
const tick = 10 * time.Millisecond

// usage is CPU time of the server's processes, by what they did.
type usage struct {
	load   time.Duration // the backends of the clients
	upkeep time.Duration // the backend that calls maintain
	vacuum time.Duration // autovacuum workers in the database
}

// cpuMeter reads the CPU time of a database's processes while they live: a process takes its figures with it.
type cpuMeter struct {
	conn *pgx.Conn // outside the database that is measured
	name string    // the database
	stop chan struct{}
	done chan struct{}

	kind map[int]*time.Duration // where the time of a process is added up
	last map[int]time.Duration  // its latest reading
	base map[int]time.Duration  // its first reading, for those that lived before
	sum  usage
	err  error
}

// startMeter begins to measure the processes of a database on this machine.
func startMeter(ctx context.Context, conn *pgx.Conn, database string) *cpuMeter {
	m := &cpuMeter{
		conn: conn, name: database, stop: make(chan struct{}), done: make(chan struct{}),
		kind: map[int]*time.Duration{}, last: map[int]time.Duration{}, base: map[int]time.Duration{},
	}
	m.find(ctx, true)
	go m.run(ctx)
	return m
}

func (m *cpuMeter) run(ctx context.Context) {
	defer close(m.done)
	ticker := time.NewTicker(readEvery)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-m.stop:
			return
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if n%findEvery == 0 {
			m.find(ctx, false)
		}
		m.read()
	}
}

// find looks for processes that are new. Those that lived before the start count from their reading then.
func (m *cpuMeter) find(ctx context.Context, before bool) {
	rows, err := m.conn.Query(ctx, `select pid, backend_type, application_name from pg_stat_activity
		where datname = $1 and pid <> pg_backend_pid()`, m.name)
	if err != nil {
		m.err = errors.Join(m.err, err)
		return
	}
	var pid int
	var backend, app string
	_, err = pgx.ForEachRow(rows, []any{&pid, &backend, &app}, func() error {
		if m.kind[pid] != nil {
			return nil
		}
		switch {
		case backend == "autovacuum worker":
			m.kind[pid] = &m.sum.vacuum
		case app == loadApp:
			m.kind[pid] = &m.sum.load
		case app == upkeepApp:
			m.kind[pid] = &m.sum.upkeep
		default:
			return nil
		}
		if before {
			m.base[pid], _ = processTime(pid) // 0 when it is gone, and then it never comes back
		}
		return nil
	})
	m.err = errors.Join(m.err, err)
}

func (m *cpuMeter) read() {
	for pid := range m.kind {
		if t, ok := processTime(pid); ok {
			m.last[pid] = t
		}
	}
}

// finish ends the measurement and returns the sums.
func (m *cpuMeter) finish() (usage, error) {
	close(m.stop)
	<-m.done
	m.read()
	for pid, sum := range m.kind {
		*sum += max(0, m.last[pid]-m.base[pid])
	}
	if m.err != nil {
		return m.sum, fmt.Errorf("measure CPU time: %w", m.err)
	}
	return m.sum, nil
}

// processTime returns the CPU time of a process with one thread, as PostgreSQL's are. The scheduler's own count is in
// nanoseconds; the one in stat counts ticks of 10 ms.
func processTime(pid int) (time.Duration, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	if text, err := os.ReadFile(dir + "/schedstat"); err == nil {
		if d, ok := parseSchedstat(string(text)); ok {
			return d, true
		}
	}
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0, false
	}
	return parseStat(string(text))
}

func parseSchedstat(text string) (time.Duration, bool) {
	fields := strings.Fields(text)
	if len(fields) < 1 {
		return 0, false
	}
	ns, err := strconv.ParseInt(fields[0], 10, 64)
	return time.Duration(ns), err == nil && ns > 0
}

// parseStat adds utime and stime, the 12th and 13th fields after the command's name, which may hold anything.
func parseStat(text string) (time.Duration, bool) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, false
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, false
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err == nil
}

// ownTime is the CPU time of this process.
func ownTime() time.Duration {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0
	}
	return time.Duration(own.Utime.Nano() + own.Stime.Nano())
}

// machineTime returns the time that the machine's CPUs have spent at work since it started; 0 where nobody counts.
func machineTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return parseMachine(string(text))
}

// parseMachine adds the fields of the line of all CPUs but idle, iowait and what guests got, which user has already.
func parseMachine(text string) time.Duration {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0
	}
	var ticks int64
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		if i != 3 && i != 4 {
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}
