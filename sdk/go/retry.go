package weir

import (
	"context"
	"time"
)

// The delay before a call is made again: it doubles from the first to the last.
const (
	retryDelayMin = 100 * time.Millisecond
	retryDelayMax = 10 * time.Second
)

// retry makes a call until it succeeds, fails for good or was made often enough. A call that failed in a way that
// leaves open whether it was done is made again only if doing it twice does no harm.
func retry[T any](ctx context.Context, tries int, twice bool, call func() (T, error)) (T, error) {
	delay := retryDelayMin
	for try := 1; ; try++ {
		v, err := call()
		if err == nil || try >= tries || !Retryable(err) || !twice && !harmless(err) || ctx.Err() != nil {
			return v, err
		}
		pause(ctx, nil, jitter(delay))
		delay = min(2*delay, retryDelayMax)
	}
}
