package server

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnAnswerThatIsCutOffCountsAsAFailure(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := New(nil, Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	handler := s.observe(s.newMetrics(nil), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic(http.ErrAbortHandler)
	}))
	func() {
		defer func() { _ = recover() }()
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	}()
	if !strings.Contains(log.String(), "status=500") {
		t.Errorf("logged %s", log.String())
	}
}
