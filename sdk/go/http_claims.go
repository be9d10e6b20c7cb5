package weir

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"
)

// httpSettlement is an item of ack, nack, reject, release and snooze.
type httpSettlement struct {
	Queue   string  `json:"queue,omitempty"` // in a transaction
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty"`
	All     bool    `json:"all,omitempty"` // in place of ids
	DelayMS *int64  `json:"delay_ms,omitempty"`
	Reason  *string `json:"reason,omitempty"`
}

func (h *httpBackend) settle(ctx context.Context, verb verb, queue string, items []settlement) ([]int, error) {
	if verb == finish {
		return h.finish(ctx, queue, items)
	}
	in := make([]httpSettlement, len(items))
	for i, item := range items {
		in[i] = httpSettlement{
			ClaimID: item.claim, IDs: item.ids, All: item.ids == nil, DelayMS: millis(item.delay),
			Reason: orNull(item.reason),
		}
	}
	verbs := string(verb) + "s"
	var out map[string][]struct{ Finished, Snoozed int }
	path := groupPath(queue, cmp.Or(items[0].group, DefaultGroup)) + "/" + string(verb)
	if err := h.call(ctx, http.MethodPost, path, map[string]any{verbs: in}, &out); err != nil {
		return nil, err
	}
	counts := make([]int, len(out[verbs]))
	for i, item := range out[verbs] {
		counts[i] = item.Finished + item.Snoozed
	}
	return counts, nil
}

// settleEach makes a request for each run of items of one verb. What the server refuses as a whole is to be tried
// alone.
func (h *httpBackend) settleEach(ctx context.Context, queue string, items []settlement) ([]*int, error) {
	counts := make([]*int, len(items))
	for begin := 0; begin < len(items); {
		verb := items[begin].verb
		end := begin + 1
		for end < len(items) && items[end].verb == verb {
			end++
		}
		settled, err := h.settle(ctx, verb, queue, items[begin:end])
		if err != nil && (len(items) == 1 || Retryable(err) || ctx.Err() != nil) {
			return nil, err
		}
		for i := range settled {
			counts[begin+i] = &settled[i]
		}
		begin = end
	}
	return counts, nil
}

func (h *httpBackend) extend(
	ctx context.Context, queue, group string, claims []int64, lease time.Duration,
) ([]time.Time, error) {
	type item struct {
		ClaimID int64  `json:"claim_id"`
		LeaseMS *int64 `json:"lease_ms"`
	}
	in := make([]item, len(claims))
	for i, claim := range claims {
		in[i] = item{ClaimID: claim, LeaseMS: millis(&lease)}
	}
	var out struct {
		Extends []struct{ Deadline time.Time }
	}
	err := h.call(ctx, http.MethodPost, groupPath(queue, group)+"/extend", map[string]any{"extends": in}, &out)
	deadlines := make([]time.Time, len(out.Extends))
	for i, extended := range out.Extends {
		deadlines[i] = extended.Deadline
	}
	return deadlines, err
}

// extendEach extends claims all or none. What the server refuses is to be tried alone.
func (h *httpBackend) extendEach(
	ctx context.Context, queue, group string, claims []int64, lease time.Duration,
) ([]bool, error) {
	_, err := h.extend(ctx, queue, group, claims, lease)
	if err != nil && len(claims) > 1 && !Retryable(err) && ctx.Err() == nil {
		return make([]bool, len(claims)), nil
	}
	return slices.Repeat([]bool{err == nil}, len(claims)), err
}
