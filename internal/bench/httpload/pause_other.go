//go:build !linux

package httpload

import "time"

// pause waits for some time.
func pause(d time.Duration) { time.Sleep(d) }
