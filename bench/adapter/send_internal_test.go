package adapter

import (
	"bytes"
	"compress/flate"
	"testing"
)

func TestTheMessagesOfABatchDoNotRepeatEachOther(t *testing.T) {
	t.Parallel()
	for _, size := range []int{256, 1024, 10_240} {
		source := NewMessages(&Command{Bytes: size})
		var whole, small bytes.Buffer
		for n := range int64(100) {
			payload := source.Make(n).Payload
			if len(payload) != size {
				t.Fatalf("message %d has %d bytes, expected %d", n, len(payload), size)
			}
			whole.Write(payload)
		}
		w, err := flate.NewWriter(&small, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(whole.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		// A letter of 26 has 4.7 bits of its 8; what is beyond that is repetition.
		if ratio := float64(small.Len()) / float64(whole.Len()); ratio < 4.7/8*0.9 {
			t.Errorf("100 payloads of %d bytes compress to %.2f of their length", size, ratio)
		}
	}
}
