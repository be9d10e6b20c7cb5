package test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// sentCall is what a hook was told of one call.
type sentCall struct {
	destination string
	payloads    []string
	ids         int
}

// watch returns the client with a hook that writes down each call and puts the header "hook" on all that it sends.
func watch(c *weir.Client, seen *[]sentCall) *weir.Client {
	return c.Hooked(func(
		ctx context.Context, destination string, batch []weir.Outgoing,
		send func(context.Context, []weir.Outgoing) ([]int64, error),
	) ([]int64, error) {
		call, marked := sentCall{destination: destination}, slices.Clone(batch)
		for i := range marked {
			call.payloads = append(call.payloads, fmt.Sprint(marked[i].Payload))
			marked[i].Headers = map[string]any{"hook": fmt.Sprint(batch[i].Headers["h"])}
		}
		ids, err := send(ctx, marked)
		call.ids = len(ids)
		*seen = append(*seen, call)
		return ids, err
	})
}

func TestAHookIsCalledOnceACallWithAllThatItSendsAndItsHeadersArrive(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		must(t, c.Bind(t.Context(), "a.#", "q"))
		var seen []sentCall
		hooked := watch(c, &seen)
		own := map[string]any{"h": 7}
		get(hooked.Send(t.Context(), "q", "one", weir.Headers(own)))(t)
		get(hooked.SendBatch(t.Context(), "q", []weir.Outgoing{{Payload: "two"}, {Payload: "three"}}))(t)
		get(hooked.Publish(t.Context(), "a.b", "four"))(t)
		get(hooked.Enqueue(t.Context(), "q", add{5, 5}))(t)
		get(hooked.EnqueueBatch(t.Context(), "q", []weir.OutgoingJob{{Args: add{6, 6}, Headers: own}, {Args: wait{}}}))(t)
		steps := []weir.Step{{Args: add{7, 7}, Headers: own}, {Args: add{8, 8}}}
		get(hooked.StartWorkflow(t.Context(), "q", steps, "w"))(t)
		get(hooked.StartChain(t.Context(), "q", steps, ""))(t)
		get(hooked.StartBatch(t.Context(), "q", steps, weir.Step{Args: wait{}}, ""))(t)
		want := []sentCall{
			{"q", []string{"one"}, 1},
			{"q", []string{"two", "three"}, 2},
			{"a.b", []string{"four"}, 1},
			{"q", []string{"{5 5}"}, 1},
			{"q", []string{"{6 6}", "{}"}, 2},
			{"q", []string{"{7 7}", "{8 8}"}, 0},
			{"q", []string{"{7 7}", "{8 8}"}, 0},
			{"q", []string{"{7 7}", "{8 8}", "{}"}, 0},
		}
		if fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("the hook saw\n%v, want\n%v", seen, want)
		}
		arrived, steps7 := 0, 0
		for arrived < 14 {
			got := get(c.Receive(t.Context(), "q", weir.Max(100), weir.Wait(50*time.Second)))(t)
			if len(got) == 0 {
				t.Fatalf("%d messages and jobs arrived, want 14", arrived)
			}
			for _, m := range got {
				arrived++
				switch m.Headers["hook"] {
				case "7":
					steps7++
				case "<nil>":
				default:
					t.Errorf("%s came with %v", m.Payload, m.Headers)
				}
				if m.Headers["kind"] == nil {
					get(c.Ack(t.Context(), "q", m))(t)
					continue
				}
				get(c.Finish(t.Context(), "q", m, nil))(t)
			}
		}
		if steps7 != 5 {
			t.Errorf("the header of one with its own came with %d messages and jobs, want 5", steps7)
		}
	})
}

func TestAHookMayChangeWhatIsSentButNotTheKindOfAJob(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	changing := c.Hooked(func(
		ctx context.Context, _ string, batch []weir.Outgoing, send func(context.Context, []weir.Outgoing) ([]int64, error),
	) ([]int64, error) {
		changed := make([]weir.Outgoing, len(batch))
		for i := range changed {
			changed[i] = weir.Outgoing{Payload: "other", Key: "o"}
		}
		return send(ctx, changed)
	})
	get(changing.Send(t.Context(), "q", 1))(t)
	get(changing.Enqueue(t.Context(), "q", add{}))(t)
	get(changing.EnqueueBatch(t.Context(), "q", weir.JobsOf(add{}, add{})))(t)
	get(changing.StartChain(t.Context(), "q", []weir.Step{{Args: add{}}}, ""))(t)
	got := get(c.Pop(t.Context(), "q", weir.Max(10)))(t)
	if len(got) != 5 {
		t.Errorf("%d were sent", len(got))
	}
	for i, m := range got {
		if kind := fmt.Sprint(m.Headers["kind"]); m.Key != "o" || string(m.Payload) != `"other"` || i > 0 && kind != "add" {
			t.Errorf("%d: %s of the kind %s with the key %q", i, m.Payload, kind, m.Key)
		}
	}
}

func TestWhatAHookRefusesIsNotSent(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	must(t, c.Bind(t.Context(), "a.#", "q"))
	refusal := errors.New("not today")
	refusing := c.Hooked(func(
		context.Context, string, []weir.Outgoing, func(context.Context, []weir.Outgoing) ([]int64, error),
	) ([]int64, error) {
		return nil, refusal
	})
	losing := c.Hooked(func(
		ctx context.Context, _ string, batch []weir.Outgoing, send func(context.Context, []weir.Outgoing) ([]int64, error),
	) ([]int64, error) {
		return send(ctx, batch[1:])
	})
	steps := []weir.Step{{Args: wait{}}, {Args: wait{}}}
	calls := map[string]func(c *weir.Client) error{
		"Send": func(c *weir.Client) error { _, err := c.Send(t.Context(), "q", 1); return err },
		"SendBatch": func(c *weir.Client) error {
			_, err := c.SendBatch(t.Context(), "q", make([]weir.Outgoing, 2))
			return err
		},
		"Publish": func(c *weir.Client) error { _, err := c.Publish(t.Context(), "a.b", 1); return err },
		"Enqueue": func(c *weir.Client) error { _, err := c.Enqueue(t.Context(), "q", wait{}); return err },
		"EnqueueBatch": func(c *weir.Client) error {
			_, err := c.EnqueueBatch(t.Context(), "q", weir.JobsOf(wait{}, wait{}))
			return err
		},
		"StartWorkflow": func(c *weir.Client) error { _, err := c.StartWorkflow(t.Context(), "q", steps, ""); return err },
		"StartChain":    func(c *weir.Client) error { _, err := c.StartChain(t.Context(), "q", steps, ""); return err },
		"StartBatch": func(c *weir.Client) error {
			_, err := c.StartBatch(t.Context(), "q", steps, weir.Step{Args: wait{}}, "")
			return err
		},
		"Send in a transaction": func(c *weir.Client) error {
			return c.Transaction(t.Context(), func(tx *weir.Client) error {
				_, err := tx.Send(t.Context(), "q", 1)
				return err
			})
		},
	}
	for name, call := range calls {
		if err := call(refusing); !errors.Is(err, refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range calls {
		if err := call(losing); err == nil {
			t.Errorf("%s: its hook passes on less than it got, and no error says so", name)
		}
	}
	for _, s := range get(c.Stats(t.Context(), "q"))(t) {
		if s.Waiting+s.Delayed+s.Claimed != 0 {
			t.Errorf("sent: %+v", s)
		}
	}
}
