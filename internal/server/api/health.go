package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
)

const (
	// probeTimeout is what a load balancer may be kept waiting for.
	probeTimeout = 3 * time.Second
	// probeEvery is how old an answer of the database may be, so that many who ask cost one call.
	probeEvery = time.Second
)

type versionOutput struct {
	Version string `json:"version" doc:"Of the server."`
	Engine  string `json:"engine" doc:"Of the engine in the database."`
}

// version asks the engine in the database for its version.
func (a *api) version(ctx context.Context, _ *struct{}) (*output[versionOutput], error) {
	version, err := a.engine.Version(ctx)
	return reply(versionOutput{Version: a.opt.Version, Engine: version}, err)
}

type healthOutput struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version" doc:"Of the server."`
}

// health says that the process lives. It asks nobody: a server without its database is not to be restarted for that.
func (a *api) health(context.Context, *struct{}) (*output[healthOutput], error) {
	return reply(healthOutput{Status: "ok", Version: a.opt.Version}, nil)
}

type readyOutput struct {
	Status  string `json:"status" enum:"ready"`
	Version string `json:"version" doc:"Of the server."`
	Engine  string `json:"engine" doc:"Of the engine in the database."`
}

// ready says whether requests are welcome and can be served.
func (a *api) ready(ctx context.Context, _ *struct{}) (*output[readyOutput], error) {
	if a.opt.Draining() {
		return nil, newProblem(http.StatusServiceUnavailable, "the server is draining: it stops soon", "Ask another server.")
	}
	version, err := a.probe.version(ctx, a.engine)
	if err != nil {
		return nil, unready(err)
	}
	if !fits(version, migrate.Version()) {
		return nil, newProblem(http.StatusServiceUnavailable,
			fmt.Sprintf("the engine in the database is %s, this server needs %s", version, migrate.Version()),
			"Upgrade the older of the two: `weir install` the engine, or a newer program the server.")
	}
	return reply(readyOutput{Status: "ready", Version: a.opt.Version, Engine: version}, nil)
}

// unready words why the database does not serve. Who asks may be anybody, so that addresses and roles stay out of it.
func unready(err error) *Problem {
	var e *engine.Error
	if errors.As(err, &e) && !e.Unreachable() {
		p := problemOf(err)
		p.Status, p.Title = http.StatusServiceUnavailable, http.StatusText(http.StatusServiceUnavailable)
		p.Retryable = true
		return p
	}
	p := newProblem(http.StatusServiceUnavailable, "the database cannot be reached",
		"Start PostgreSQL or correct --dsn. The server's log says more; it will be ready by itself.")
	if e == nil {
		p.Detail = "the database did not answer in time"
	}
	return p
}

// engineProbe asks the database for the engine's version, once for all who ask at the same time.
type engineProbe struct {
	mu    sync.Mutex
	asked time.Time
	found string
	err   error
}

func (p *engineProbe) version(ctx context.Context, client *engine.Client) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < probeEvery {
		return p.found, p.err
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	p.found, p.err = client.Version(call)
	p.asked = time.Now()
	return p.found, p.err
}

// fits reports whether an engine has all that a server of some version calls: it is of the same major version and not
// older, in which patches do not count.
func fits(engine, server string) bool {
	e, s := minorOf(engine), minorOf(server)
	return e[0] == s[0] && e[1] >= s[1]
}

// minorOf reads the first two numbers of a version such as 0.2.0.
func minorOf(version string) (numbers [2]int) {
	for i, part := range strings.SplitN(version, ".", 3) {
		if n, err := strconv.Atoi(part); err == nil && i < len(numbers) {
			numbers[i] = n
		}
	}
	return numbers
}
