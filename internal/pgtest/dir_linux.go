package pgtest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// room returns how many bytes may be written to a directory that lies in memory, 0 for one that does not.
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
	return min(fs.Bavail*uint64(fs.Bsize), kilobytes<<10)
}
