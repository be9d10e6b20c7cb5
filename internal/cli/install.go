package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
)

// install puts the engine into a database.
func (a *app) install() *cobra.Command {
	var printOnly bool
	var face string
	c := leaf("install", "Put the engine into a database, or bring it up to date", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			if printOnly {
				return a.printScript(face)
			}
			dsn, _, err := a.findDSN()
			if err != nil {
				return err
			}
			version, err := migrate.InstallDSN(ctx, dsn)
			if err != nil {
				return err
			}
			if err := a.installFaces(ctx, face); err != nil {
				return err
			}
			return a.say(map[string]string{"engine": version}, "engine %s is in place", version)
		})
	c.Aliases = []string{"upgrade"}
	c.Long = c.Short + ".\n\nThe engine goes into the schemas weir and weir_internal, in one transaction, and touches " +
		"nothing else.\nAny role that may create a schema in the database can do it. Installing again changes nothing.\n" +
		"Faces that are installed are brought up to date with it."
	c.Flags().BoolVar(&printOnly, "print", false, "write the SQL to standard output instead, for psql")
	c.Flags().StringVar(&face, "face", "", "install this face too: see weir face")
	return c
}

// installFaces installs a face, if one is named, and brings up to date those that are there.
func (a *app) installFaces(ctx context.Context, face string) error {
	var faces []engine.Face
	err := a.with(ctx, func(client *engine.Client) (err error) {
		faces, err = client.ListFaces(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range faces {
		if f.Name == face {
			continue
		}
		if err := a.changeFace(ctx, f.Name, migrate.InstallFaceDSN); err != nil {
			return err
		}
	}
	if face == "" {
		return nil
	}
	return a.changeFace(ctx, face, migrate.InstallFaceDSN)
}

func (a *app) printScript(face string) error {
	script, err := migrate.Script()
	if err != nil {
		return err
	}
	if face != "" {
		more, err := migrate.FaceScript(face)
		if err != nil {
			return unknownFace(err)
		}
		script += more
	}
	if _, err := io.WriteString(a.stdout, script); err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	return nil
}
