package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/dispatch"
)

// jobs enqueues tracked jobs and returns claims of one each.
func (s *site) jobs(n int) []engine.Message {
	s.Helper()
	s.db.Exec(s, "select weir.enqueue('q', 'k', tracked => true) from generate_series(1, $1)", n)
	list, err := s.client.ReceiveMany(s.Context(), "q", "default", []engine.Want{{Max: n, Lease: time.Hour}})
	if err != nil || len(list[0]) != n {
		s.Fatalf("received %v, %v", list, err)
	}
	return list[0]
}

func TestFinishesOfManyTakeFewCallsAndAreAnsweredEachForItself(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const requests = 40
	list := s.jobs(requests)
	g, d := s.behind("weir.finish_many")
	s.together(g, d, requests+10, func(i int) {
		end := engine.JobEnd{Claim: list[i%requests].ClaimID, ID: list[i%requests].ID}
		end.Result = json.RawMessage(fmt.Sprintf(`{"of":%d}`, end.ID))
		bad := i%10 == 5 && i < requests
		if bad {
			end.Claim += 1 << 40
		}
		n, err := d.Finish("q", end)
		switch {
		case bad && !errors.Is(err, dispatch.ErrAlone):
			t.Errorf("finish under a claim that is none: %d, %v", n, err)
		case bad, errors.Is(err, dispatch.ErrAlone) && (i < 10 || i >= requests): // asked for twice
		case err != nil || n > 1 || n < 1 && i >= 10 && i < requests:
			t.Errorf("finish %d: %d, %v", i, n, err)
		}
	})
	if n := g.count(); n > 4 {
		t.Errorf("%d requests took %d calls", requests+10, n)
	}
	if st := d.Stats().Finishes; st.Requests != requests+10 {
		t.Errorf("counted %+v", st)
	}
	done := pgtest.QueryVal[int64](t, s.db, `select count(*) from unnest($1::bigint[]) i
		cross join lateral weir.job('q', i) j where j.state = 'done' and j.result = jsonb_build_object('of', i)`, ids(list))
	if want := int64(requests - 4 + 1); done != want { // one of the four was finished by the request that came again
		t.Errorf("%d jobs are done with their results, want %d", done, want)
	}
}

func ids(list []engine.Message) (ids []int64) {
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestAFinishThatWaitsForAnotherTransactionHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	list := append(s.jobs(1), s.jobs(1)...)
	busy := s.db.Conn(t)
	for _, sql := range []string{"begin", fmt.Sprintf("select weir.nack('q', %d)", list[0].ClaimID)} {
		if _, err := busy.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	g, d := s.behind("weir.finish_many")
	s.together(g, d, 2, func(i int) {
		_, err := d.Finish("q", engine.JobEnd{Claim: list[i].ClaimID, ID: list[i].ID})
		if i == 0 != errors.Is(err, dispatch.ErrAlone) || i == 1 && err != nil {
			t.Errorf("finish %d: %v", i, err)
		}
	})
	if _, err := busy.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
}

func TestWhatGoesAloneWaitsForItsTurnQueueByQueue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, d := s.behind("nothing")
	leave, err := d.Alone(t.Context(), "q") // one at a time: the dispatcher knows of no connections
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client is gone")
	cancel(gone)
	if _, err := d.Alone(ctx, "q"); !errors.Is(err, gone) {
		t.Errorf("a second one, of a client that goes: %v", err)
	}
	other, err := d.Alone(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	other()
	came := make(chan error)
	go func() {
		next, err := d.Alone(context.Background(), "q")
		if err == nil {
			next()
		}
		came <- err
	}()
	leave()
	if err := <-came; err != nil {
		t.Errorf("the next: %v", err)
	}
}
