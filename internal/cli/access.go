package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/auth"
)

// accessOptions are the flags about who is let in, and how.
type accessOptions struct {
	tokens, readOnly, insecure bool
	jwt                        auth.JWTOptions
	tls                        server.TLSFiles
	rate                       float64
	burst                      int
	proxies                    []string
	proxyHeader                string
}

func (o *accessOptions) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.tokens, "auth", false, "ask every caller for a token of weir token create")
	flags.BoolVar(&o.readOnly, "read-only", false, "only let look: refuse everybody what changes anything")
	flags.BoolVar(&o.insecure, "insecure", false, "let everybody in, also where other machines reach the address")
	flags.StringVar(&o.jwt.Issuer, "oidc-issuer", "", "take JWTs of this issuer, which serves OpenID Connect discovery")
	flags.StringVar(&o.jwt.Keys, "jwks", "", "URL or file of the issuer's keys, instead of discovery")
	flags.StringVar(&o.jwt.Audience, "audience", "", "what the aud of a JWT must contain")
	flags.StringVar(&o.jwt.ScopeClaim, "scope-claim", auth.DefaultScopeClaim,
		"claim of a JWT that says what it allows, as weir:VERB:PATTERN")
	flags.StringVar(&o.tls.Cert, "tls-cert", "", "serve HTTPS with the certificate of this PEM file")
	flags.StringVar(&o.tls.Key, "tls-key", "", "PEM file of its private key")
	flags.StringVar(&o.tls.ClientCA, "tls-client-ca", "",
		"PEM file of authorities: only clients with a certificate of one of them may connect")
	flags.Float64Var(&o.rate, "rate-limit", 0, "requests a second that one caller may send; 0 is no limit")
	flags.StringSliceVar(&o.proxies, "trusted-proxy", nil,
		"address or network of a reverse proxy that is believed for whom it asks, such as 10.0.0.0/8")
	flags.StringVar(&o.proxyHeader, "proxy-header", server.HeaderForwardedFor,
		"header in which the trusted proxies say so: X-Forwarded-For or Forwarded")
	flags.IntVar(&o.burst, "rate-burst", 0, "requests that may come at once under a rate limit (default twice the limit)")
}

// check refuses flags that make no sense together.
func (o *accessOptions) check() error {
	switch {
	case o.jwt.Issuer == "" && (o.jwt.Keys != "" || o.jwt.Audience != ""):
		return usagef("--jwks and --audience are for the JWTs of an issuer: give --oidc-issuer")
	case o.jwt.Issuer != "" && o.jwt.Audience == "":
		return usagef("--oidc-issuer needs --audience: a JWT that was made out for another service must not let in here")
	case (o.tls.Cert == "") != (o.tls.Key == ""):
		return usagef("--tls-cert and --tls-key belong together")
	case o.tls.ClientCA != "" && o.tls.Cert == "":
		return usagef("--tls-client-ca needs --tls-cert and --tls-key")
	case o.rate < 0 || o.burst < 0:
		return usagef("--rate-limit and --rate-burst are 0 or more")
	}
	return nil
}

// apply gives the server what the flags say.
func (o *accessOptions) apply(ctx context.Context, opt *server.Options) error {
	if err := o.check(); err != nil {
		return err
	}
	proxies, err := server.ParseProxies(o.proxies, o.proxyHeader)
	if err != nil {
		return usagef("--trusted-proxy and --proxy-header: %v", err)
	}
	opt.Proxies = proxies
	opt.AskTokens, opt.Insecure = o.tokens, o.insecure
	opt.Access = auth.Options{ReadOnly: o.readOnly, Rate: o.rate, Burst: o.burst}
	if o.jwt.Issuer != "" {
		jwt, err := auth.NewJWT(ctx, o.jwt)
		if err != nil {
			return err //nolint:wrapcheck // it says what was done
		}
		opt.Access.JWT = jwt
	}
	if o.tls.Cert != "" {
		opt.TLS = &o.tls
		reload := make(chan os.Signal, 1)
		signal.Notify(reload, syscall.SIGHUP)
		context.AfterFunc(ctx, func() { signal.Stop(reload) })
		opt.Reload = reload
	}
	return nil
}
