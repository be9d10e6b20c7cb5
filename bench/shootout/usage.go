package shootout

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc on Linux.
const tick = 10 * time.Millisecond

// procStat is what is of interest in /proc/<pid>/stat.
type procStat struct {
	parent, group  int
	own, waitedFor time.Duration // CPU time of the process, and of children of it that have ended
}

func readStat(pid string) (procStat, bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return procStat{}, false
	}
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:]) // the name may hold anything
	if len(fields) < 15 {
		return procStat{}, false
	}
	n := func(i int) int {
		v, _ := strconv.Atoi(fields[i]) // the kernel writes numbers
		return v
	}
	return procStat{
		parent: n(1), group: n(2), own: time.Duration(n(11)+n(12)) * tick,
		waitedFor: time.Duration(n(13)+n(14)) * tick,
	}, true
}

// memory returns a field of /proc/<pid>/status in bytes.
func memory(pid, field string) int64 {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), field+":")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kb, 10, 64) // the kernel writes numbers
	return n << 10
}

// processes calls see with every process.
func processes(see func(pid string, s procStat)) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // none where there is no /proc
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		if s, ok := readStat(pid); ok {
			see(pid, s)
		}
	}
}

// groupUsage returns the CPU time of a process group and the memory that it occupies.
func groupUsage(group int) (spent time.Duration, bytes int64) {
	processes(func(pid string, s procStat) {
		if s.group == group {
			spent += s.own + s.waitedFor
			bytes += memory(pid, "VmRSS")
		}
	})
	return spent, bytes
}

// serverUsage returns the CPU time of a PostgreSQL server, all its processes that live or have lived, and the memory
// that they have beside the shared one.
func serverUsage(postmaster int) (spent time.Duration, bytes int64) {
	processes(func(pid string, s procStat) {
		if s.parent == postmaster {
			spent += s.own
			bytes += memory(pid, "RssAnon")
		}
		if pid == strconv.Itoa(postmaster) {
			spent += s.own + s.waitedFor
		}
	})
	return spent, bytes
}

// loadAverage is the machine's, over a minute.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	v, _ := strconv.ParseFloat(first, 64) // the kernel writes numbers
	return v
}
