package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

type preview struct {
	Before, After, Skips, Redelivers int64
	Exact                            bool
}

func TestAPreviewCountsWhatASeekWouldDoAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusOK, "PATCH", "/v1/logs/main", `{"retention_ms":86400000}`)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2},{"payload":3}]}`)
	s.want(http.StatusOK, "POST", group+"/pop", `{"max":2}`)
	for position, want := range map[string]preview{
		"start": {1, 3, 0, 2, true},
		"end":   {1, 0, 1, 0, true},
		"1001":  {1, 2, 0, 1, true},
		"1002":  {1, 1, 0, 0, true},
	} {
		text := s.want(http.StatusOK, "GET", group+"/seek?position="+url.QueryEscape(position), "")
		if got := decode[preview](s, text); got != want {
			t.Errorf("seek to %s: %+v, want %+v", position, got, want)
		}
	}
	if got := s.receive(); len(got) != 1 || got[0].ID != 1002 {
		t.Errorf("after the previews %v is received, want message 1002", got)
	}
	s.want(http.StatusBadRequest, "GET", group+"/seek?position=nowhere", "")
	s.want(http.StatusNotFound, "GET", "/v1/queues/q/groups/none/seek?position=end", "")
	s.want(http.StatusNotFound, "GET", "/v1/queues/none/groups/default/seek?position=end", "")
}

func TestSeveralQueuesAreCountedWithoutThoseThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	for _, name := range []string{"a", "b"} {
		s.want(http.StatusCreated, "PUT", "/v1/queues/"+name, "")
	}
	type counted struct {
		Groups []struct{ Queue string }
	}
	for query, want := range map[string]string{
		"?queue=a&queue=b":            "ab",
		"?queue=b&queue=none&queue=q": "bq",
		"?queue=a":                    "a",
		"?queue=":                     "abq",
		"":                            "abq",
	} {
		var names []string
		for _, g := range decode[counted](s, s.want(http.StatusOK, "GET", "/v1/stats"+query, "")).Groups {
			names = append(names, g.Queue)
		}
		if got := strings.Join(names, ""); got != want {
			t.Errorf("stats%s is of %s, want %s", query, got, want)
		}
	}
	s.want(http.StatusNotFound, "GET", "/v1/stats?queue=none", "")
}
