//go:build !linux

package embedded

import (
	"context"
	"os"
	"os/exec"
)

// identity is who runs the server: always this process's own user.
type identity struct{}

func chooseIdentity(context.Context, string, string) (identity, error) {
	if os.Geteuid() == 0 {
		return identity{}, ErrRoot
	}
	return identity{}, nil
}

func (identity) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = serverEnv()
	return cmd
}

func (identity) own(string) error { return nil }

func processEnded(int) bool { return false }

func servesDir(int, string) (serves, known bool) { return false, false }

// killTree kills the server's first process; the others notice and end.
func killTree(p *os.Process) {
	p.Kill() //nolint:errcheck // fails only when it has ended
}
