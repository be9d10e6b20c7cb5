package httpload

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestAnswersOfEveryLengthAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/short":
			_, _ = w.Write([]byte("ok"))
		case "/chunks":
			_, _ = w.Write([]byte(long))
		case "/late":
			w.WriteHeader(http.StatusConflict)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer server.Close()
	c, err := Dial(t.Context(), strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, want := range []struct{ path, body string }{{"/chunks", long}, {"/short", "ok"}, {"/chunks", long}} {
		got, err := c.Post(want.path, nil)
		if err != nil || string(got) != want.body {
			t.Fatalf("%s: %d bytes, %v", want.path, len(got), err)
		}
	}
	if _, err := c.Post("/late", nil); !errors.Is(err, ErrConflict) {
		t.Errorf("a conflict: %v", err)
	}
	if _, err := c.Post("/other", nil); !errors.Is(err, ErrAnswer) {
		t.Errorf("a refusal: %v", err)
	}
	server.Close()
	if _, err := c.Post("/short", nil); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed server: %v", err)
	}
}

func TestNumbersAreFoundByTheirName(t *testing.T) {
	t.Parallel()
	text := `{"messages":[{"claim_id":12,"payload":{"at": 5, "seq": 0}},{"claim_id":13,"payload":{"at":6,"seq":77}}]}`
	for name, want := range map[string][]int64{`"claim_id"`: {12, 13}, `"at"`: {5, 6}, `"seq"`: {0, 77}, `"no"`: nil} {
		if got := Numbers(nil, []byte(text), []byte(name)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
