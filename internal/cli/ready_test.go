package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/api"
)

func TestReadyEndsWellOnlyWhileTheServerIsReady(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	client, err := engine.Open(t.Context(), s.db.DSN, engine.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var draining atomic.Bool
	handler := api.New(client, api.Options{Drain: t.Context(), Draining: draining.Load})
	web, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(web.Close)
	t.Cleanup(secure.Close)
	if out := s.ok("", "ready", "--url", web.URL+"/"); out != "ready\n" {
		t.Errorf("printed %q", out)
	}
	s.fails(5, "certificate", "", "ready", "--url", secure.URL)
	s.ok("", "ready", "--url", secure.URL, "--any-certificate")
	draining.Store(true)
	s.fails(5, "draining", "", "ready", "--url", web.URL)
	if out := s.ok("", "ready", "--live", "--url", web.URL); out != "ok\n" {
		t.Errorf("printed %q", out)
	}
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	s.fails(5, "something else than weir", "", "ready", "--url", elsewhere.URL)
	web.Close()
	s.fails(5, "refused", "", "ready", "--url", web.URL)
}

func TestShellsAreToldHowToCompleteCommands(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if script := s.ok("", "completion", shell); !strings.Contains(script, "weir") || len(script) < 1000 {
			t.Errorf("%s: %s", shell, script)
		}
	}
	r := s.run(t.Context(), strings.NewReader(""), nil, "__complete", "queue", "cr")
	if !strings.HasPrefix(r.out, "create\t") {
		t.Errorf("queue cr<TAB> gives %s", r.out)
	}
}
