package cli

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/server"
)

// servingOptions are the flags of every command that serves HTTP.
type servingOptions struct {
	listen   string
	bodyMax  int64
	connsMax int
	hosts    []string
	config   string
	access   accessOptions
	observe  observeOptions
}

func (o *servingOptions) flags(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", server.DefaultListen,
		"address to listen on, of loopback unless callers must prove who they are")
	flags.Int64Var(&o.bodyMax, "body-max", 0, "largest request body in bytes (default 32 MiB)")
	flags.IntVar(&o.connsMax, "conns-max", 0, "connections that may be open at a time; 0 is no limit")
	flags.StringSliceVar(&o.hosts, "allow-host", nil, "host name under which a reverse proxy passes requests on")
	flags.StringVar(&o.config, configFlag, "", "YAML file with settings (default $WEIR_CONFIG)")
	o.access.flags(flags)
	o.observe.flags(flags)
}

// apply makes the server's options of the flags, and returns what ends the tracing.
func (o *servingOptions) apply(ctx context.Context, w io.Writer) (opt server.Options, stop func(), err error) {
	opt = server.Options{Version: migrate.Version(), BodyMax: o.bodyMax, ConnsMax: o.connsMax, Hosts: o.hosts}
	if stop, err = o.observe.apply(ctx, w, &opt); err != nil {
		return opt, nil, err
	}
	if err = o.access.apply(ctx, &opt); err != nil {
		stop()
	}
	return opt, stop, err
}
