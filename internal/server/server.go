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
	"sync"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/api"
	"github.com/weirmq/weir/internal/server/dispatch"
	"github.com/weirmq/weir/web"
)

// DefaultListen is where the API listens unless told.
const DefaultListen = "127.0.0.1:9347"

// drainTimeout is how long requests may take to end when the server is told to stop.
const drainTimeout = 10 * time.Second

// Options say how to serve.
type Options struct {
	// Version is the program's own.
	Version string
	// BodyMax limits a request's body in bytes; 0 means the API's default.
	BodyMax int64
	// Hosts are names, beside those of loopback, under which a reverse proxy may pass requests on.
	Hosts []string
	// Pprof serves Go's profiles at /debug/pprof/.
	Pprof bool
	// Log receives what an operator should know.
	Log *slog.Logger
}

// Server is the HTTP API and the upkeep of one database.
type Server struct {
	engine *engine.Client
	opt    Options
}

// New returns a server in front of the engine that client reaches.
func New(client *engine.Client, opt Options) *Server {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{engine: client, opt: opt}
}

// Listen opens the address. As long as there is no authentication it must be one that only this machine reaches.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not host:port, such as %s", ErrAddress, address, DefaultListen)
	}
	if !loopbackName(host) {
		return nil, fmt.Errorf("%w: %s can be reached from other machines and there is no authentication yet; "+
			"listen on 127.0.0.1 and put a proxy that authenticates in front of it", ErrAddress, address)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(address, err)
	}
	return listener, nil
}

// Serve answers requests and keeps the database up until ctx ends; then it ends the waits, lets running requests
// finish and returns nil.
func (s *Server) Serve(ctx context.Context, at net.Listener) error {
	listener := engine.NewListener(s.engine, s.opt.Log)
	defer listener.Close()
	dispatcher := dispatch.New(ctx, s.engine, listener, s.opt.Log)
	defer dispatcher.Close()
	httpServer := &http.Server{
		Handler:           s.guard(web.Handler(s.routes(ctx, listener, dispatcher))),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      3 * time.Minute, // a body may take half a minute, a receive waits up to one
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	upkeep, stopUpkeep := context.WithCancel(ctx)
	defer stopUpkeep()
	var running sync.WaitGroup
	running.Go(func() { s.maintain(upkeep) })
	defer running.Wait()

	failed := make(chan error, 1)
	go func() { failed <- httpServer.Serve(at) }()
	select {
	case err := <-failed:
		stopUpkeep()
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := httpServer.Shutdown(last); err != nil && !errors.Is(err, http.ErrServerClosed) {
		_ = httpServer.Close()
		return fmt.Errorf("%w after %s", ErrDrain, drainTimeout)
	}
	return nil
}

// routes is everything that the server answers, behind the guard.
func (s *Server) routes(drain context.Context, listener *engine.Listener, d *dispatch.Dispatcher) http.Handler {
	m := newMetrics(s.engine, d)
	mux := http.NewServeMux()
	mux.Handle("/", m.count(api.New(s.engine, api.Options{
		BodyMax: s.opt.BodyMax, Version: s.opt.Version, Listener: listener, Dispatcher: d, Drain: drain, Log: s.opt.Log,
	})))
	mux.Handle("GET /metrics", m.handler())
	if s.opt.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}
