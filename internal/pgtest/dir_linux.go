package pgtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// room returns how many bytes may be written to a directory that lies in memory, 0 for one that does not. What lies
// there counts toward a container's limit of memory.
func room(dir string) uint64 {
	const tmpfs = 0x01021994
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil || fs.Type != tmpfs {
		return 0
	}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kilobytes uint64
	_, after, _ := bytes.Cut(text, []byte("MemAvailable:"))
	fmt.Sscan(string(after), &kilobytes) //nolint:errcheck // 0 then
	free := min(fs.Bavail*uint64(fs.Bsize), kilobytes<<10)
	if limit, ok := number("/sys/fs/cgroup/memory.max"); ok {
		used, _ := number("/sys/fs/cgroup/memory.current")
		free = min(free, limit-min(used, limit))
	}
	return free
}

func number(file string) (uint64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64) // "max" where there is no limit
	return n, err == nil
}
