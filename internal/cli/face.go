package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
)

// face is the parent of the commands on faces.
func (a *app) face() *cobra.Command {
	return parent("face", "Install, list and uninstall faces, which are the SQL of other systems over the engine",
		a.faceInstall(), a.faceList(), a.faceUninstall())
}

func (a *app) faceInstall() *cobra.Command {
	c := leaf("install FACE", "Put a face into a database, or bring it up to date", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if err := a.changeFace(ctx, args[0], migrate.InstallFaceDSN); err != nil {
				return err
			}
			return a.say(map[string]string{"face": args[0]}, "face %s is in place", args[0])
		})
	c.Long = c.Short + ".\n\nThe engine must be there. The face goes into a schema called like the other system's, " +
		"so that its clients find it;\nwhere that system itself has it, nothing is done. Installing again changes nothing."
	return c
}

func (a *app) faceUninstall() *cobra.Command {
	var yes bool
	c := leaf("uninstall FACE", "Remove a face, with all its queues and messages", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if !yes {
				if err := a.confirm(ctx, "the face "+args[0]+" goes, with all its queues, messages and archives,"); err != nil {
					return err
				}
			}
			if err := a.changeFace(ctx, args[0], migrate.UninstallFaceDSN); err != nil {
				return err
			}
			return a.say(map[string]string{"uninstalled": args[0]}, "face %s is gone, with all its queues", args[0])
		})
	return yesFlag(c, &yes)
}

func (a *app) faceList() *cobra.Command {
	return leaf("list", "List the faces that are installed", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.ListFaces(ctx)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) {
				columns(w, "FACE", "ABOUT")
				for _, f := range list {
					columns(w, f.Name, f.About)
				}
			})
		})
	})
}

// changeFace does something with a face in the database that is used.
func (a *app) changeFace(
	ctx context.Context, face string, change func(ctx context.Context, dsn, face string) error,
) error {
	dsn, _, err := a.findDSN()
	if err != nil {
		return err
	}
	return unknownFace(change(ctx, dsn, face))
}

// unknownFace makes of a face that there is not a mistake in the call, which names those that there are.
func unknownFace(err error) error {
	if !errors.Is(err, migrate.ErrNoFace) {
		return err
	}
	faces, listErr := migrate.Faces()
	if listErr != nil {
		return listErr
	}
	return usagef("%v; there is %s", err, strings.Join(faces, ", "))
}
