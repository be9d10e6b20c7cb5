package cli

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/engine"
)

// The role and the database that `weir up` makes: an ordinary role, so that nothing comes to need a superuser.
const (
	upRole     = "weir"
	upDatabase = "weir"
)

// connect opens the database that the flags, the environment or a running `weir up` name.
func (a *app) connect(ctx context.Context) (*engine.Client, error) {
	dsn, direct, err := a.findDSN()
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, dsn, engine.Options{AppName: "weir", Direct: direct, MaxConns: 4})
}

// with opens the database for the time of a call.
func (a *app) with(ctx context.Context, do func(client *engine.Client) error) error {
	client, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

// findDSN returns the DSN to use, and whether it is known to lead straight to the server.
func (a *app) findDSN() (dsn string, direct bool, err error) {
	if a.dsn != "" {
		return a.dsn, false, nil
	}
	if env := os.Getenv("WEIR_DSN"); env != "" {
		return env, false, nil
	}
	state, err := a.running()
	if err != nil {
		return "", false, err
	}
	dsn, err = ordinaryDSN(state.DSN)
	return dsn, true, err
}

// running returns the state of the running `weir up`.
func (a *app) running() (embedded.State, error) {
	dir, err := a.postgresDir()
	if err != nil {
		return embedded.State{}, err
	}
	state, err := embedded.Running(dir)
	if errors.Is(err, embedded.ErrNotRunning) {
		return state, &hinted{
			err:  fmt.Errorf("%w: no `weir up` runs on %s, and neither --dsn nor WEIR_DSN names one", errNoDatabase, dir),
			hint: fmt.Sprintf("Start one with `%s up` in another terminal, or name one with --dsn.", a.name),
		}
	}
	return state, err
}

// postgresDir is where PostgreSQL's data are: the directory given when that is a data directory, else one below it,
// so that what belongs to it stands beside it.
func (a *app) postgresDir() (string, error) {
	base := a.dataDir
	if base == "" {
		base = os.Getenv("WEIR_DATA_DIR")
	}
	if base == "" {
		share := os.Getenv("XDG_DATA_HOME")
		if share == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", &usageError{err: fmt.Errorf("find home directory: %w", err), hint: "Give --data-dir."}
			}
			share = filepath.Join(home, ".local", "share")
		}
		base = filepath.Join(share, "weir")
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return "", fmt.Errorf("resolve data directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(base, "PG_VERSION")); err == nil {
		return base, nil
	}
	return filepath.Join(base, "postgres"), nil
}

// ordinaryDSN makes of the superuser's DSN that of the role weir. Its password follows from the superuser's, so that
// nothing more need be stored, and tells nothing about it.
func ordinaryDSN(superuser string) (string, error) {
	u, err := url.Parse(superuser)
	if err != nil || u.User == nil {
		return "", errors.New("the state of the running `weir up` has no usable DSN")
	}
	secret, _ := u.User.Password()
	u.User = url.UserPassword(upRole, rolePassword(secret))
	u.Path = "/" + upDatabase
	return u.String(), nil
}

// rolePassword derives the password of the role weir.
func rolePassword(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("role " + upRole))
	return hex.EncodeToString(mac.Sum(nil))[:32]
}
