package cli

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

func TestALineReachesTheSenderBeforeTheNextOneIsWritten(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	f := newFeed()
	go f.read(reader, sendOptions{})
	for _, text := range []string{"1\n", "2\n", "3\n"} {
		if _, err := io.WriteString(writer, text); err != nil {
			t.Fatal(err)
		}
		lines, err := f.take()
		if err != nil || len(lines) != 1 || string(lines[0].message.Payload)+"\n" != text {
			t.Fatalf("after %q: %v, %v", text, lines, err)
		}
	}
	writer.Close()
	if _, err := f.take(); !errors.Is(err, errFeedEnd) {
		t.Errorf("at the end: %v", err)
	}
}

func TestAFeedHoldsABoundedPartOfEndlessInput(t *testing.T) {
	t.Parallel()
	f := newFeed()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.read(endless{}, sendOptions{})
	}()
	for range 20 {
		lines, err := f.take()
		if err != nil || len(lines) == 0 || len(lines) > feedLinesMax {
			t.Fatalf("took %d lines, %v", len(lines), err)
		}
	}
	f.stop()
	<-done
}

// endless is an input of lines that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, strings.Repeat("1\n", len(p)/2+1)), nil }

func TestABadLineEndsTheFeedWithItsNumberAfterWhatStandsBefore(t *testing.T) {
	t.Parallel()
	for input, number := range map[string]int{
		"1\n{bad\n3\n":  2,
		"1\n\n\n nul\n": 4,
		"\ufeff1\n2 2":  2,
	} {
		f := newFeed()
		f.read(strings.NewReader(input), sendOptions{})
		lines, err := f.take()
		var bad *lineError
		if !errors.As(err, &bad) || bad.number != number || len(lines) != 1 {
			t.Errorf("%q: %d lines, then %v; want 1 line, then line %d", input, len(lines), err, number)
		}
	}
}

func TestAnEnvelopeWinsOverTheFlags(t *testing.T) {
	t.Parallel()
	key, flags := "flag", engine.SendOptions{Delay: time.Hour, Priority: 1}
	opt := sendOptions{messageOptions: messageOptions{key: &key, options: flags}, envelope: true}
	plain, err := parseLine([]byte(`{"payload":1}`), opt)
	if err != nil || *plain.message.Key != "flag" || plain.options != flags {
		t.Errorf("without fields: %+v, %v", plain, err)
	}
	full, err := parseLine([]byte(`{"payload":1.0,"key":"own","headers":{"a":1},"delay_ms":5,"priority":2}`), opt)
	own := engine.SendOptions{Delay: 5 * time.Millisecond, Priority: 2}
	if err != nil || *full.message.Key != "own" || full.options != own ||
		string(full.message.Headers) != `{"a":1}` || string(full.message.Payload) != "1.0" {
		t.Errorf("with fields: %+v, %v", full, err)
	}
	for _, wrong := range []string{
		`1`, `{}`, `[]`, `{"payload":1,"x":2}`, `{"payload":1} 2`, `{"payload":1,"delay_ms":"soon"}`,
		`{"payload":1,"key":"\ud800"}`, "{\"payload\":1,\"dedup_key\":\"\xff\"}", `null`,
	} {
		if _, err := parseLine([]byte(wrong), opt); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
}

func TestLinesAreCutWhereTheOptionsChange(t *testing.T) {
	t.Parallel()
	now, later, high := engine.SendOptions{}, engine.SendOptions{Delay: time.Second}, engine.SendOptions{Priority: 1}
	lines := []line{{options: now}, {options: now}, {options: later}, {options: later}, {options: high}, {options: now}}
	var sizes []int
	for chunk := range chunks(lines) {
		sizes = append(sizes, len(chunk))
	}
	if !slices.Equal(sizes, []int{2, 2, 1, 1}) {
		t.Errorf("chunks of %v", sizes)
	}
	for chunk := range chunks(nil) {
		t.Errorf("no lines gave a chunk: %v", chunk)
	}
}

func TestMillionsOfIDsOfOneTransactionTakeLittleRoom(t *testing.T) {
	t.Parallel()
	var held idRanges
	var want []int64
	for first := int64(1); first < 30_000; first += 1000 {
		ids := make([]int64, 0, 900)
		for id := first; id < first+900; id++ {
			ids = append(ids, id)
		}
		held.add(ids[:450])
		held.add(ids[450:])
		want = append(want, ids...)
	}
	var got []int64
	if err := held.each(func(ids []int64) error { got = append(got, ids...); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || len(held.ranges) != 30 {
		t.Errorf("%d ids in %d ranges, want %d in 30", len(got), len(held.ranges), len(want))
	}
}
