package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/migrate"
)

// install puts the engine into a database.
func (a *app) install() *cobra.Command {
	var printOnly bool
	c := leaf("install", "Put the engine into a database, or bring it up to date", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			if printOnly {
				return a.printScript()
			}
			dsn, _, err := a.findDSN()
			if err != nil {
				return err
			}
			version, err := migrate.InstallDSN(ctx, dsn)
			if err != nil {
				return err
			}
			return a.say(map[string]string{"engine": version}, "engine %s is in place", version)
		})
	c.Aliases = []string{"upgrade"}
	c.Long = c.Short + ".\n\nThe engine goes into the schemas weir and weir_internal, in one transaction, and touches " +
		"nothing else.\nAny role that may create a schema in the database can do it. Installing again changes nothing."
	c.Flags().BoolVar(&printOnly, "print", false, "write the SQL to standard output instead, for psql")
	return c
}

func (a *app) printScript() error {
	script, err := migrate.Script()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(a.stdout, script); err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	return nil
}
