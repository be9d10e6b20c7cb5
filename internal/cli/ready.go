package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/server"
)

const readyHelp = `Ask a server whether it can serve requests: GET /readyz. It ends with 0 if so, else says why not.

It is what a container's health check runs, so that no other program need be in the image.`

// ready asks a server whether it is ready.
func (a *app) ready() *cobra.Command {
	var address string
	var timeout time.Duration
	var live, anyCertificate bool
	c := leaf("ready", "Ask a server whether it can serve", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		probe := "/readyz"
		if live {
			probe = "/healthz"
		}
		return a.askReady(ctx, strings.TrimSuffix(address, "/")+probe, anyCertificate)
	})
	c.Long = readyHelp
	flags := c.Flags()
	flags.StringVar(&address, "url", "http://"+server.DefaultListen, "address of the server")
	flags.DurationVar(&timeout, "timeout", 5*time.Second, "how long it may take")
	flags.BoolVar(&live, "live", false, "ask only whether it lives, whatever its database does: GET /healthz")
	flags.BoolVar(&anyCertificate, "any-certificate", false,
		"take any certificate, such as one that is not made out for loopback")
	return c
}

// askReady asks at an address and says what it was told.
func (a *app) askReady(ctx context.Context, at string, anyCertificate bool) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return usagef("--url: %w", err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: anyCertificate}, //nolint:gosec // nothing secret is sent
	}
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	defer response.Body.Close()
	answer := map[string]any{} // status is a word when it is ready, and a number in a problem
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil || json.Unmarshal(text, &answer) != nil {
		return fmt.Errorf("%w: %s is answered with %s by something else than weir", errNotReady, at, response.Status)
	}
	if response.StatusCode != http.StatusOK {
		hint, _ := answer["hint"].(string)
		return &hinted{err: fmt.Errorf("%w: %s: %v", errNotReady, response.Status, answer["detail"]), hint: hint}
	}
	return a.say(answer, "%v", answer["status"])
}
