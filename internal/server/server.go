// Package server runs the HTTP API in front of a database, with the upkeep that the database wants: what `weir up`
// and `weir serve` have in common.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/api"
	"github.com/weirmq/weir/internal/server/auth"
	"github.com/weirmq/weir/internal/server/dispatch"
	"github.com/weirmq/weir/internal/server/tracing"
	"github.com/weirmq/weir/web"
)

// DefaultListen is where the API listens unless told.
const DefaultListen = "127.0.0.1:9347"

// drainTimeout is how long requests may take to end when the server is told to stop.
const drainTimeout = 10 * time.Second

// idleHeap is memory that is never touched, so that it costs none. The garbage collector counts it, and so comes by a
// third as often where little else is in use.
const idleHeap = 16 << 20

// Options say how to serve.
type Options struct {
	// Version is the program's own.
	Version string
	// BodyMax limits a request's body in bytes; 0 means the API's default.
	BodyMax int64
	// Hosts are names, beside those of loopback, under which a reverse proxy may pass requests on.
	Hosts []string
	// Proxies are believed who sent a request that they pass on.
	Proxies Proxies
	// AskTokens lets in whoever has a token that is in the database.
	AskTokens bool
	// Access says who else is let in, and what to refuse. Where nobody is asked who he is, everybody is let in, and Listen
	// opens loopback addresses only.
	Access auth.Options
	// Insecure lets Listen open any address although everybody is let in.
	Insecure bool
	// TLS names the files of a certificate; nil serves plain HTTP.
	TLS *TLSFiles
	// Reload, when something comes, reads the certificate anew at once.
	Reload <-chan os.Signal
	// ConnsMax limits the connections that are open at a time; 0 does not. Further ones wait to be accepted.
	ConnsMax int
	// Pprof serves Go's profiles at /debug/pprof/.
	Pprof bool
	// DrainDelay is how long the server goes on as before once it was told to stop, while /readyz says so already.
	DrainDelay time.Duration
	// MetricsGroups is how many groups have series of their own at /metrics; 0 means DefaultMetricsGroups.
	MetricsGroups int
	// Tracer makes spans of requests; nil makes none.
	Tracer *tracing.Tracer
	// Log receives what an operator should know.
	Log *slog.Logger
}

// Server is the HTTP API and the upkeep of one database.
type Server struct {
	engine   *engine.Client
	opt      Options
	gate     *auth.Gate
	upkeep   upkeepCounts
	draining atomic.Bool
}

// New returns a server in front of the engine that client reaches.
func New(client *engine.Client, opt Options) *Server {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.AskTokens {
		opt.Access.Tokens = client
	}
	opt.Log = slog.New(requestLog{opt.Log.Handler()})
	return &Server{engine: client, opt: opt, gate: auth.New(opt.Access), upkeep: newUpkeepCounts()}
}

// Listen opens an address that only this machine reaches.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return Options{}.Listen(ctx, address)
}

// Listen opens the address: one that other machines reach only where callers must prove who they are, by a token or by
// a certificate, or where the operator insists.
func (o Options) Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not host:port, such as %s", ErrAddress, address, DefaultListen)
	}
	proven := o.AskTokens || o.Access.JWT != nil || o.TLS != nil && o.TLS.ClientCA != ""
	if !proven && !o.Insecure && !loopbackName(host) {
		return nil, fmt.Errorf("%w: %s can be reached from other machines and there is no authentication; ask for tokens "+
			"with --auth, --oidc-issuer or --tls-client-ca, listen on 127.0.0.1, or insist with --insecure",
			ErrAddress, address)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(address, err)
	}
	return listener, nil
}

// URL is what a client asks for to reach a listener that Listen opened.
func (o Options) URL(at net.Listener) string {
	if o.TLS != nil {
		return "https://" + at.Addr().String()
	}
	return "http://" + at.Addr().String()
}

// Serve answers requests and keeps the database up until ctx ends. Then /readyz tells load balancers to go elsewhere;
// after the drain delay waits end, no connection is taken any more, running requests finish, and it returns nil.
func (s *Server) Serve(ctx context.Context, at net.Listener) error {
	serving, endServing := context.WithCancel(context.WithoutCancel(ctx))
	defer endServing()
	defer runtime.KeepAlive(make([]byte, idleHeap))
	listener := engine.NewListener(s.engine, s.opt.Log)
	defer listener.Close()
	dispatcher := dispatch.New(serving, s.engine, listener, s.opt.Log)
	defer dispatcher.Close()
	httpServer := &http.Server{
		Handler:           s.handler(serving, listener, dispatcher),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      3 * time.Minute, // a body may take half a minute, a receive waits up to one
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	var running sync.WaitGroup
	running.Go(func() { s.maintain(serving) })
	defer running.Wait()
	defer endServing()

	serve, err := s.transport(ctx, httpServer, at)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- serve() }()
	if err := s.untilDrained(ctx, failed); err != nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	endServing()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := httpServer.Shutdown(last); err != nil && !errors.Is(err, http.ErrServerClosed) {
		_ = httpServer.Close()
		return fmt.Errorf("%w after %s", ErrDrain, drainTimeout)
	}
	return nil
}

// untilDrained returns nil when ctx has ended and the drain delay is over, or the error with which serving failed.
func (s *Server) untilDrained(ctx context.Context, failed <-chan error) error {
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	timer := time.NewTimer(s.opt.DrainDelay)
	defer timer.Stop()
	select {
	case err := <-failed:
		return err
	case <-timer.C:
		return nil
	}
}

// handler is everything that the server answers.
func (s *Server) handler(serving context.Context, listener *engine.Listener, d *dispatch.Dispatcher) http.Handler {
	m := s.newMetrics(d)
	return s.opt.Proxies.resolve(s.observe(m, s.guard(web.Handler(s.routes(serving, m, listener, d)))))
}

// routes are behind the guard.
func (s *Server) routes(
	serving context.Context, m *metrics, listener *engine.Listener, d *dispatch.Dispatcher,
) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", noteRoute(api.New(s.engine, api.Options{
		BodyMax: s.opt.BodyMax, Version: s.opt.Version, Listener: listener, Dispatcher: d, Gate: s.gate, Log: s.opt.Log,
		Drain: serving, Draining: s.draining.Load,
	})))
	mux.Handle("GET /metrics", api.Guarded(s.gate, m.handler()))
	if s.opt.Pprof {
		profiles := map[string]http.HandlerFunc{"": pprof.Index, "profile": pprof.Profile, "trace": pprof.Trace}
		for name, handle := range profiles {
			mux.Handle("GET /debug/pprof/"+name, api.Guarded(s.gate, handle))
		}
	}
	return mux
}
