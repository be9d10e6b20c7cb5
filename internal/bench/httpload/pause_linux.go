package httpload

import (
	"syscall"
	"time"
)

// roughly is what Go's timers are late by at most: its runtime waits in whole milliseconds.
const roughly = 2 * time.Millisecond

// pause waits for some time, to within a tenth of a millisecond where the machine is idle.
func pause(d time.Duration) {
	end := time.Now().Add(d)
	time.Sleep(d - roughly)
	if rest := time.Until(end); rest > 0 {
		spec := syscall.NsecToTimespec(rest.Nanoseconds())
		_ = syscall.Nanosleep(&spec, nil) // a signal may cut it short, by less than anybody sees
	}
}
