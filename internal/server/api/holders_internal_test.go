package api

import (
	"testing"

	"github.com/weirmq/weir/internal/engine"
)

func TestAHolderIsForgottenWithTheLastOfItsMessages(t *testing.T) {
	t.Parallel()
	h := newHolders()
	list := []engine.Message{{ID: 1, ClaimID: 7}, {ID: 2, ClaimID: 7}}
	h.handed("q", []engine.Message{{ID: 3, ClaimID: 8}}, "10.0.0.1:1", "")
	h.handed("q", list, "[2001:db8::1]:4711", "")
	h.handed("other", list[:1], "10.0.0.1:1", "cook")
	if client, caller := h.of("q", 7); client == nil || *client != "2001:db8::1" || caller != nil {
		t.Errorf("the claim is of %v, %v", client, caller)
	}
	h.settled("q", []finished{{7, 1}, {8, 1}, {9, 1}})
	if client, _ := h.of("q", 7); client == nil {
		t.Error("the holder is forgotten while a message is left")
	}
	h.settled("q", []finished{{7, 1}})
	if n := h.claims.Len(); n != 1 {
		t.Errorf("%d claims are remembered, want that of the other queue", n)
	}
	if client, caller := h.of("other", 7); *client != "10.0.0.1" || *caller != "cook" {
		t.Errorf("it is of %s, %s", *client, *caller)
	}
}
