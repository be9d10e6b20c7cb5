// Package api is the HTTP face of the engine: every route is a plain call of the SQL function that has its name.
//
// routes.go is the list; each other file holds one resource. A body is read whole, within a limit, before its route
// runs; payloads and headers pass through as they are, so that a number keeps every digit. Every error, also that of
// a wrong path or of a body that is not JSON, is a problem (RFC 9457) with the SQLSTATE, its name and the cure.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
	"github.com/weirmq/weir/internal/server/dispatch"
)

// Limits of a request.
const (
	DefaultBodyMax = 32 << 20
	DefaultLookMax = 30 * time.Second
	bodyTimeout    = 30 * time.Second
	waitMax        = 60 * time.Second
)

// Options are what the API needs beside the engine.
type Options struct {
	// BodyMax limits a request's body in bytes; 0 means DefaultBodyMax.
	BodyMax int64
	// BodiesMax limits the bodies of all requests under way, together; 0 means twice BodyMax.
	BodiesMax int64
	// LookMax is how long a request that only looks may keep the database busy; 0 means DefaultLookMax.
	LookMax time.Duration
	// Version is the program's own.
	Version string
	// Listener tells the receives that wait; without one they look again and again.
	Listener *engine.Listener
	// Drain, when it ends, ends every wait for messages at once.
	Drain context.Context
	// Draining tells that the server is about to stop and wants no more requests; nil means that it never is.
	Draining func() bool
	// Dispatcher gathers the requests on the way of messages; without one the API makes its own.
	Dispatcher *dispatch.Dispatcher
	// Gate lets requests in; nil lets everybody in.
	Gate *auth.Gate
	// Log receives the errors that are the server's own fault.
	Log *slog.Logger
}

// api is what the handlers share.
type api struct {
	engine   *engine.Client
	dispatch *dispatch.Dispatcher
	huma     huma.API
	probe    engineProbe
	mux      *gatedMux
	holders  *holders
	held     atomic.Int64 // bytes of the bodies of all requests under way
	opt      Options
}

// New returns the handler of all routes.
func New(client *engine.Client, opt Options) http.Handler {
	if opt.BodyMax <= 0 {
		opt.BodyMax = DefaultBodyMax
	}
	if opt.BodiesMax <= 0 {
		opt.BodiesMax = 2 * opt.BodyMax
	}
	if opt.Drain == nil {
		opt.Drain = context.Background()
	}
	if opt.Draining == nil {
		opt.Draining = func() bool { return false }
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Gate == nil {
		opt.Gate = auth.New(auth.Options{})
	}
	if opt.Dispatcher == nil {
		opt.Dispatcher = dispatch.New(opt.Drain, client, opt.Listener, opt.Log)
	}
	if opt.LookMax <= 0 {
		opt.LookMax = DefaultLookMax
	}
	a := &api{engine: client, dispatch: opt.Dispatcher, opt: opt, holders: newHolders()}
	a.mux = newGatedMux(opt.Gate, a.withBody)
	for _, ending := range []string{".json", ".yaml", "-3.0.json", "-3.0.yaml"} {
		a.mux.needs["GET /openapi"+ending] = needsNothing
	}
	a.huma = humago.New(a.mux, config(opt.Version))
	a.routes()
	a.describe()
	return a.recovered(a.mux)
}

// config is huma's, without its pages and links: one description at /openapi.json and plain bodies.
func config(version string) huma.Config {
	c := huma.DefaultConfig("Weir", version)
	c.Info.Description = "Queues in PostgreSQL. Every route is a plain call of the SQL function that has its name."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{securityScheme: {
		Type: "http", Scheme: "bearer",
		Description: "A token of `weir token create`, or a JWT; its verbs and queues must cover what is asked. " +
			"Not asked for by a server on loopback that was not told to.",
	}}
	c.CreateHooks = nil
	c.DocsPath = ""
	c.SchemasPath = ""
	c.RejectUnknownQueryParameters = true
	format := huma.Format{Marshal: marshal, Unmarshal: decodeStrict}
	c.Formats = map[string]huma.Format{"application/json": format, "json": format}
	return c
}
