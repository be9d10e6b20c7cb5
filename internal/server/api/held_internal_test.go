package api

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirmq/weir/internal/server/dispatch"
)

func TestABodyForWhichThereIsNoRoomTurnsAwayNoneBesideIt(t *testing.T) {
	t.Parallel()
	var held atomic.Int64
	reader := func(body string) *heldReader {
		return &heldReader{from: strings.NewReader(body), held: &held, max: 10}
	}
	first, second := reader("123456"), reader("7890123")
	if _, err := first.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Read(make([]byte, 7)); !errors.Is(err, dispatch.ErrBusy) {
		t.Errorf("the second: %v", err)
	}
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the first, beside it: %v", err)
	}
	third := reader("7890")
	if _, err := third.Read(make([]byte, 4)); err != nil {
		t.Errorf("what there is room for: %v", err)
	}
	for _, r := range []*heldReader{first, second, third} {
		r.release()
	}
	if n := held.Load(); n != 0 {
		t.Errorf("%d bytes are held when all are gone", n)
	}
}
