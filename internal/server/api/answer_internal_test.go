package api

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestNoAnswerIsGoodAfterAFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	a := &api{opt: Options{Log: slog.New(slog.DiscardHandler)}}
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		status int // 0: the connection is cut
	}{
		"nothing was written": {func(http.ResponseWriter, *http.Request) { panic(broken) }, 500},
		"the status was given": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			w.WriteHeader(http.StatusOK)
			panic(broken)
		}, 500},
		"an answer that JSON does not know": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = config("").Formats["application/json"].Marshal(w, far)
			_, _ = io.WriteString(w, "error marshaling response") // as huma does when it is told
		}, 500},
		"half an answer was written": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(broken)
		}, 0},
		"half an answer was on its way": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			panic(broken)
		}, 0},
		"it was flushed": {func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			panic(broken)
		}, 0},
		"the handler cuts the connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0},
		"all is well": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
		}, 202},
		"nothing is said": {func(http.ResponseWriter, *http.Request) {}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(a.recovered(c.handle))
			server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			server.Start()
			t.Cleanup(server.Close)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody) // never sent again
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err == nil {
				_, err = io.ReadAll(response.Body)
				response.Body.Close()
			}
			if (err != nil) != (c.status == 0) {
				t.Errorf("error %v", err)
			}
			if err == nil && response.StatusCode != c.status {
				t.Errorf("status %d, want %d", response.StatusCode, c.status)
			}
		})
	}
}
