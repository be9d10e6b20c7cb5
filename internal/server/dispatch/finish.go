package dispatch

import (
	"context"

	"github.com/weirmq/weir/internal/engine"
)

// Finish finishes a job with its result and returns 1, or 0 when it was finished before. ErrAlone means the same as for
// Ack.
func (d *Dispatcher) Finish(queue string, job engine.JobEnd) (int, error) {
	d.tides.settleCame(queue)
	return d.finishes.do(queue, job, 1, len(job.Result))
}

// finishAll is the call for jobs that are finished. It is halved as that for settles is. Whoever finishes a job that
// another request of the batch finishes goes alone, to be told that it was finished before.
func (d *Dispatcher) finishAll(ctx context.Context, queue string, batch []*request[engine.JobEnd, int]) {
	type job struct{ claim, id int64 }
	seen := map[job]bool{}
	jobs := make([]engine.JobEnd, 0, len(batch))
	first := make([]*request[engine.JobEnd, int], 0, len(batch))
	for _, r := range batch {
		j := job{r.in.Claim, r.in.ID}
		if seen[j] {
			r.answer(0, ErrAlone)
			continue
		}
		seen[j] = true
		jobs, first = append(jobs, r.in), append(first, r)
	}
	counts, err := d.engine.FinishMany(ctx, lockTimeout, queue, jobs)
	if concernsOne(err) || crossed(err) {
		if len(first) > 1 {
			d.finishAll(ctx, queue, first[:len(first)/2])
			d.finishAll(ctx, queue, first[len(first)/2:])
			return
		}
		err = ErrAlone
	}
	for i, r := range first {
		switch {
		case err != nil:
			r.answer(0, err)
		case counts[i] == nil:
			r.answer(0, ErrAlone)
		default:
			r.answer(*counts[i], nil)
		}
	}
}
