package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const childEnv = "WEIR_EMBEDDED_TEST_CHILD"

// TestMain lets the test binary play another weir process: one that starts a server and waits to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		s, err := Start(context.Background(), Options{DataDir: dir, Major: defaultMajor})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(s.Wait()) // for ever: it is killed
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// start starts a server that is discarded at the end of the test. The data directory may be made by an earlier start.
func start(t *testing.T, opts Options) *Server {
	t.Helper()
	if opts.Major == 0 && opts.BinDir == "" {
		opts.Major = defaultMajor
	}
	s, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Discard(context.WithoutCancel(t.Context())) })
	return s
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) //nolint:errcheck // nothing is left to say
	return conn
}

func run(t *testing.T, dsn, sql string) {
	t.Helper()
	if _, err := connect(t, dsn).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func value[T any](t *testing.T, dsn, sql string) (val T) {
	t.Helper()
	if err := connect(t, dsn).QueryRow(t.Context(), sql).Scan(&val); err != nil {
		t.Fatal(err)
	}
	return val
}

// waitFor polls for what another process does.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := poll(ctx, func() (bool, error) { return cond(), nil }); err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
}

// snapshot lists everything in a directory with size, mode and time.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&all, path, info.Size(), info.Mode(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestEveryMajorStartsWithSafeDefaultsAndKeepsItsData(t *testing.T) {
	t.Parallel()
	for major := minMajor; major <= defaultMajor; major++ {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "pg")
			s := start(t, Options{DataDir: dir, Major: major})
			const asked = "select concat_ws(' ', current_setting('server_version_num')::int / 10000, current_setting('fsync')," +
				" current_setting('data_checksums'), current_setting('listen_addresses'), current_setting('server_encoding'))"
			want := fmt.Sprintf("%d on on 127.0.0.1 UTF8", major)
			if got := value[string](t, s.DSN("postgres"), asked); got != want {
				t.Errorf("server is %q, want %q", got, want)
			}
			run(t, s.DSN("postgres"), "create table t as select 1 as n")
			if err := s.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Wait(); err != nil {
				t.Errorf("wait after Stop: %v", err)
			}
			again := start(t, Options{DataDir: dir, Major: major})
			if n := value[int](t, again.DSN("postgres"), "select n from t"); n != 1 {
				t.Errorf("row is %d, want 1", n)
			}
		})
	}
}

func TestPasswordIsPrivateAndAskedFor(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pg")
	s := start(t, Options{DataDir: dir})
	for _, path := range []string{dir + ".password", dir + ".json", dir + ".log"} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want mode 0600", path, info, err)
		}
	}
	wrong := strings.Replace(s.DSN("postgres"), s.Password(), "wrong", 1)
	if conn, err := pgx.Connect(t.Context(), wrong); err == nil {
		conn.Close(t.Context()) //nolint:errcheck // the test has failed
		t.Error("connected with a wrong password")
	}
	const trusting = "select count(*) from pg_hba_file_rules where auth_method <> 'scram-sha-256'"
	if n := value[int](t, s.DSN("postgres"), trusting); n != 0 {
		t.Error("pg_hba.conf trusts somebody")
	}
}

func TestDataOfAnotherMajorIsRefusedWithARecipeAndLeftUntouched(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pg")
	if err := Init(t.Context(), Options{DataDir: dir, Major: 15}); err != nil {
		t.Fatal(err)
	}
	other, err := Find(t.Context(), Options{Major: 18})
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	for name, opts := range map[string]Options{
		"by version": {DataDir: dir, Major: 18}, "by programs": {DataDir: dir, BinDir: other.Dir},
	} {
		_, err := Start(t.Context(), opts)
		var refused *OtherMajorError
		if !errors.As(err, &refused) || refused.Data != 15 || refused.Server != 18 {
			t.Fatalf("%s: %v, want OtherMajorError 15, 18", name, err)
		}
		for _, part := range []string{"pg_upgrade", "WEIR_PG_BIN=", dir} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the recipe lacks %q: %v", name, part, err)
			}
		}
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("the directory changed from\n%s\nto\n%s", before, after)
	}
	if s, err := Start(t.Context(), Options{DataDir: dir}); err != nil { // by itself it takes the right version
		t.Error(err)
	} else {
		s.Discard(t.Context())
	}
}

func TestDirectoryThatIsNoDataDirectoryIsLeftUntouched(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"other files": "thesis.txt", "version too old": "PG_VERSION"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), []byte("12\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, dir)
		_, err := Start(t.Context(), Options{DataDir: dir})
		if !errors.Is(err, ErrNotDataDir) && !errors.As(err, new(*OtherMajorError)) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		if after := snapshot(t, dir); after != before {
			t.Errorf("%s: the directory changed from\n%s\nto\n%s", name, before, after)
		}
	}
}

func TestOfTwoStartersOneWinsAndTheOtherLearnsWhere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pg")
	var group sync.WaitGroup
	servers, errs := make([]*Server, 2), make([]error, 2)
	for i := range 2 {
		group.Go(func() {
			servers[i], errs[i] = Start(t.Context(), Options{DataDir: dir, Major: defaultMajor})
			if servers[i] != nil {
				t.Cleanup(func() { servers[i].Discard(context.WithoutCancel(t.Context())) })
			}
		})
	}
	group.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("started twice or never: %v, %v", errs[0], errs[1])
	}
	won, lost := servers[0], errs[1]
	if won == nil {
		won, lost = servers[1], errs[0]
	}
	var running *AlreadyRunningError
	if !errors.As(lost, &running) || running.State.DSN != won.DSN("postgres") || running.PID != won.PID() {
		t.Errorf("the other got %#v, want the winner's address", lost)
	}
}

func TestRunningTellsOnlyOfALiveServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pg")
	if _, err := Running(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("before the start: %v, want ErrNotRunning", err)
	}
	s := start(t, Options{DataDir: dir})
	if err := s.Announce("weir", "127.0.0.1:9347"); err != nil {
		t.Fatal(err)
	}
	want := State{DSN: s.DSN("weir"), HTTP: "127.0.0.1:9347", PID: s.PID(), OwnerPID: os.Getpid(), Major: defaultMajor}
	if st, err := Running(dir); err != nil || st != want {
		t.Errorf("running: %+v, %v, want %+v", st, err, want)
	}
	s.Kill()
	if _, err := os.Stat(stateFile(dir)); err != nil {
		t.Fatalf("want a stale state file: %v", err)
	}
	if _, err := Running(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after a kill: %v, want ErrNotRunning", err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := Running(dir); err != nil || st.HTTP != want.HTTP || st.DSN != want.DSN {
		t.Errorf("after a restart: %+v, %v, want the same addresses", st, err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Running(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the stop: %v, want ErrNotRunning", err)
	}
}

func TestPortOfAnotherProcessIsSaidToBe(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was accepted
	dir := filepath.Join(t.TempDir(), "pg")
	port := l.Addr().(*net.TCPAddr).Port //nolint:errcheck // a TCP listener
	_, err = Start(t.Context(), Options{DataDir: dir, Major: defaultMajor, Port: port})
	if !errors.Is(err, ErrPortInUse) {
		t.Errorf("start: %v, want ErrPortInUse", err)
	}
}

func TestBadSettingIsExplainedFromTheLog(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{
		DataDir: filepath.Join(t.TempDir(), "pg"), Major: defaultMajor, Settings: map[string]string{"no_such_setting": "1"},
	})
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("start: %v, want PostgreSQL's own words", err)
	}
}

func TestCancelledStartLeavesNoProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pg")
	if err := Init(t.Context(), Options{DataDir: dir, Major: defaultMajor}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for pid := 0; pid == 0 && t.Context().Err() == nil; { // as soon as the server has written its process id
			pid, _ = postmaster(dir)
		}
	}()
	if s, err := Start(ctx, Options{DataDir: dir, Major: defaultMajor}); err == nil {
		s.Discard(t.Context())
		t.Skip("the server was ready too soon")
	}
	start(t, Options{DataDir: dir})
}

func TestInitdbFallsBackToLocaleCAndLeavesNothingWhenItFails(t *testing.T) {
	t.Parallel()
	found, err := Find(t.Context(), Options{Major: defaultMajor})
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"fallback": `case "$*" in *C.UTF-8*) echo 'invalid locale name "C.UTF-8"'; exit 1;; esac; exec %s/initdb "$@"`,
		"failure":  `echo no space left; exit 1; %s`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, parent := t.TempDir(), t.TempDir()
			text := "#!/bin/sh\n" + fmt.Sprintf(script, found.Dir) + "\n"
			err := errors.Join(
				os.WriteFile(filepath.Join(bin, "initdb"), []byte(text), 0o755),
				os.Symlink(filepath.Join(found.Dir, "postgres"), filepath.Join(bin, "postgres")))
			if err != nil {
				t.Fatal(err)
			}
			err = Init(t.Context(), Options{DataDir: filepath.Join(parent, "pg"), BinDir: bin})
			made, _ := dataMajor(filepath.Join(parent, "pg"))
			if (err == nil) != (name == "fallback") || (made == defaultMajor) != (name == "fallback") {
				t.Errorf("init: %v, made version %d", err, made)
			}
			if left, _ := filepath.Glob(filepath.Join(parent, ".initdb-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// child starts another weir process on a data directory and returns it with the server's state.
func child(t *testing.T, dir string) (*exec.Cmd, State) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var st State
	waitFor(t, "the other process's server", func() bool {
		var err error
		st, err = Running(dir)
		return err == nil
	})
	return cmd, st
}
