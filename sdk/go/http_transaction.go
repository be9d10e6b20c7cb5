package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// gathered is a transaction over HTTP: what its calls ask for, sent when it ends. Calls that need an answer find a
// transport that refuses them.
type gathered struct {
	*httpBackend

	mu       sync.Mutex
	acks     []httpSettlement
	finishes []httpJob
	sends    writtenBody // a list, without its brackets
}

// transaction gathers what fn calls for and sends it as one request.
func (h *httpBackend) transaction(ctx context.Context, hook SendHook, fn func(tx *Client) error) error {
	g := &gathered{httpBackend: &httpBackend{base: h.base, client: &http.Client{Transport: refusing{}}}}
	if err := fn(&Client{b: g, tries: 1, keep: &upkeep{}, hook: hook}); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	in := map[string]any{}
	if g.acks != nil {
		in["acks"] = g.acks
	}
	if g.finishes != nil {
		in["finishes"] = g.finishes
	}
	if len(in) == 0 && g.sends == nil {
		return nil
	}
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write transaction: %w", err)
	}
	if g.sends != nil {
		sends := slices.Concat(writtenBody(`{"sends":[`), g.sends, writtenBody(`]`))
		if len(in) > 0 {
			sends = append(sends, ',')
		}
		body = append(sends, body[1:]...)
	}
	err = h.call(ctx, http.MethodPost, "/v1/transaction", writtenBody(body), nil)
	if Code(err) == codeBroken {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

func (g *gathered) send(_ context.Context, queue string, batch []jsonMessage, o sendOptions) ([]int64, error) {
	name, err := json.Marshal(queue)
	if err != nil {
		return nil, fmt.Errorf("write queue: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	sends := slices.Clip(g.sends)
	if sends != nil {
		sends = append(sends, ',')
	}
	sends, err = httpMessages(slices.Concat(sends, writtenBody(`{"queue":`), name, writtenBody(`,`)), batch, o)
	if err == nil {
		g.sends = sends
	}
	return nil, err
}

func (g *gathered) settle(_ context.Context, verb verb, queue string, items []settlement) ([]int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, item := range items {
		switch verb {
		case ack:
			g.acks = append(g.acks, httpSettlement{
				Queue: queue, ClaimID: item.claim, IDs: item.ids, All: item.ids == nil,
			})
		case finish:
			job := httpJob{Queue: queue, ClaimID: item.claim, ID: item.ids[0], Result: item.result}
			g.finishes = append(g.finishes, job)
		case nack, reject, release, snooze:
			return nil, refused(string(verb))
		}
	}
	return nil, nil
}

// refused says that a call has no place in a transaction over HTTP.
func refused(call string) error {
	return fmt.Errorf("%s: %w: over HTTP it can send, ack and finish only", call, ErrNotInTransaction)
}

// refusing is a transport that makes no request.
type refusing struct{}

// RoundTrip refuses.
func (refusing) RoundTrip(r *http.Request) (*http.Response, error) { return nil, refused(r.URL.Path) }
