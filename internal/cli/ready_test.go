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

func TestTheTabKeyOffersWhatThereIs(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("", "group", "create", "q", "audit")
	s.ok("", "schedule", "create", "nightly", "q", "report", "--cron", "@daily")
	s.ok("", "token", "create", "shop")
	for _, c := range []struct{ line, want string }{
		{"queue show ", "q"},
		{"receive ", "q"},
		{"send ", "q"},
		{"top ", "q"},
		{"dead redrive ", "q"},
		{"queue create ", ""},
		{"queue rename q ", ""},
		{"send q ", ""},
		{"queue show q ", ""},
		{"group drop q ", "audit default"},
		{"group drop none ", ""},
		{"group create q ", ""},
		{"receive q --group ", "audit default"},
		{"dead list q --group ", "audit default"},
		{"claims q --group ", "audit default"},
		{"group seek q audit ", "start end"},
		{"schedule pause ", "nightly"},
		{"schedule create ", ""},
		{"schedule create more ", "q"},
		{"topic bind news ", "q"},
		{"grant ", "produce consume admin"},
		{"grant produce ", "q"},
		{"token revoke ", "shop"},
		{"token create more --queue ", "q"},
		{"token create more --allow ", "produce consume admin read"},
		{"queue list -o ", "table json"},
		{"serve --log-level ", "debug info warn error"},
		{"schedule create more q k --missed ", "skip once all"},
		{"top --sort ", "n w c l d o i u b"},
	} {
		words := strings.Split(c.line, " ")
		r := s.run(t.Context(), strings.NewReader(""), nil, append([]string{"__complete"}, words...)...)
		offered, _, found := strings.Cut(r.out, ":4\n") // 4: and no files
		if got := strings.Join(strings.Fields(offered), " "); r.code != 0 || !found || got != c.want {
			t.Errorf("%s<TAB> offers %q, want %q", c.line, got, c.want)
		}
	}
	s.db.DSN = "postgres://127.0.0.1:1/nowhere"
	if r := s.run(t.Context(), strings.NewReader(""), nil, "__complete", "queue", "show", ""); r.out != ":4\n" {
		t.Errorf("without a database it offers %q", r.out)
	}
}
