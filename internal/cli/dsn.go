package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// dsnCommand prints the DSN that the other commands use.
func (a *app) dsnCommand() *cobra.Command {
	var superuser bool
	c := leaf("dsn", "Print the DSN that the other commands use, for psql and other programs", cobra.NoArgs,
		func(context.Context, []string) error {
			dsn, _, err := a.findDSN()
			if err == nil && superuser {
				state, stateErr := a.running()
				dsn, err = state.DSN, stateErr
			}
			if err != nil {
				return err
			}
			return a.say(map[string]string{"dsn": dsn}, "%s", dsn)
		})
	c.Flags().BoolVar(&superuser, "superuser", false,
		"that of the superuser of the running weir up, for pg_dumpall and the like")
	return c
}
