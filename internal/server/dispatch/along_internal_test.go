package dispatch

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestAcksThatWaitGoAlongWithAReceiveAndAreDoneAlsoWhenThatIsRefused(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	d := New(t.Context(), client, nil, nil)
	if _, err := d.Send("q", []engine.Outgoing{
		{Payload: json.RawMessage("1")}, {Payload: json.RawMessage("2")}, {Payload: json.RawMessage("3")},
	}, engine.SendOptions{}); err != nil {
		t.Fatal(err)
	}
	wants := []engine.Want{{Max: 1, Lease: time.Minute}}
	list, err := d.Receive(t.Context(), "q", "default", wants[0], 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("received %v, %v", list, err)
	}
	for _, group := range []string{"default", "none", "default"} {
		ack := &request[[]engine.ClaimPart, []int]{
			in: []engine.ClaimPart{{Claim: list[0].ClaimID}}, items: 1, done: make(chan struct{}),
		}
		d.acks.lines["q"] = []*request[[]engine.ClaimPart, []int]{ack}
		shares, err := d.consume(t.Context(), place{"q", group}, wants)
		<-ack.done
		if ack.err != nil || len(ack.out) != 1 || ack.out[0] != 1 {
			t.Errorf("ack beside a receive of %q: %v, %v", group, ack.out, ack.err)
		}
		if group == "none" {
			if engine.Code(err) != engine.CodeGroupNotFound {
				t.Errorf("receive of a group that is none: %v, %v", shares, err)
			}
			if shares, err = d.consume(t.Context(), place{"q", "default"}, wants); err != nil {
				t.Fatal(err)
			}
		}
		if len(shares) != 1 || group != "default" && len(shares[0]) != 1 {
			t.Fatalf("beside an ack: %v, %v", shares, err)
		}
		list = shares[0]
		if len(list) == 0 {
			break
		}
	}
	stats, err := client.Stats(t.Context(), "q")
	if err != nil || stats[0].Claimed != 0 || stats[0].Waiting != 0 {
		t.Errorf("left: %+v, %v", stats, err)
	}
}
