package server_test

import (
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/auth"
)

func TestBehindATrustedProxyEachClientHasARateOfItsOwnAndItsAddressInTheLog(t *testing.T) {
	t.Parallel()
	log := &logged{}
	proxies, err := server.ParseProxies([]string{"127.0.0.0/8"}, server.HeaderForwardedFor)
	if err != nil {
		t.Fatal(err)
	}
	url, stop := serveWith(t, pgtest.New(t, pgtest.Options{}), server.Options{
		Proxies: proxies, Access: auth.Options{Rate: 1e-6, Burst: 1},
		Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	var got []int
	for _, client := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.9, 192.0.2.2", ""} {
		a := ask(t, http.MethodGet, url+"/v1/queues", "", http.Header{server.HeaderForwardedFor: {client}})
		got = append(got, a.status)
	}
	if !slices.Equal(got, []int{200, 200, 429, 429, 200}) {
		t.Errorf("answered %v", got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	var clients []any
	for _, line := range log.lines(t) {
		if line["msg"] == "request" {
			clients = append(clients, line["client"])
		}
	}
	if !slices.Equal(clients, []any{"192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.2", "127.0.0.1"}) {
		t.Errorf("the log names %v", clients)
	}
}
