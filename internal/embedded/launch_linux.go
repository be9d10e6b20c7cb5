package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	nobody         = 65534
	shell          = "/bin/sh"
	capDACOverride = 1 // CAP_DAC_OVERRIDE of linux/capability.h
)

// identity is who runs the server: the zero one is this process's own user.
type identity struct {
	namespace bool // in a user namespace where this root user is called nobody; files stay root's
	other     bool // as the user below, who then owns the data directory
	uid, gid  uint32
	override  bool // with root's way past file permissions, for a data directory under /root
}

// chooseIdentity finds a way to run PostgreSQL that it accepts. The owner of an existing data directory decides.
func chooseIdentity(ctx context.Context, bin, dataDir string) (identity, error) {
	if os.Geteuid() != 0 {
		return identity{}, nil
	}
	if info, err := os.Stat(dataDir); err == nil {
		st := info.Sys().(*syscall.Stat_t) //nolint:errcheck // always so on Linux
		if st.Uid != 0 {
			return tryUser(ctx, bin, dataDir, st.Uid, st.Gid)
		}
	}
	id := identity{namespace: true}
	failures := []error{id.probe(ctx, bin, dataDir)}
	if failures[0] == nil {
		return id, nil
	}
	if major, _ := dataMajor(dataDir); major != 0 {
		return id, fmt.Errorf("%w: data directory %s belongs to root and a user namespace is refused here (%w). Give it to "+
			"another user: chown -R nobody %[2]s", ErrRoot, dataDir, failures[0])
	}
	for _, name := range []string{Superuser, "nobody"} {
		uid, gid, err := lookupUser(name)
		if err == nil {
			id, err = tryUser(ctx, bin, dataDir, uid, gid)
		}
		if err == nil {
			return id, nil
		}
		failures = append(failures, err)
	}
	return id, fmt.Errorf("%w, and neither a user namespace nor the users postgres and nobody would do. Run weir as an "+
		"ordinary user: %w", ErrRoot, errors.Join(failures...))
}

// tryUser returns the identity of another user, with root's reach where the user's own does not do.
func tryUser(ctx context.Context, bin, dataDir string, uid, gid uint32) (identity, error) {
	id := identity{other: true, uid: uid, gid: gid}
	err := id.probe(ctx, bin, dataDir)
	if err != nil {
		id.override = true
		err = id.probe(ctx, bin, dataDir)
	}
	return id, err
}

// probe runs PostgreSQL for a moment and, for another user, looks whether that one gets to the data directory.
func (id identity) probe(ctx context.Context, bin, dataDir string) error {
	cmd := id.command(ctx, filepath.Join(bin, "postgres"), "--version")
	if id.other {
		const script = `cd "$1" && exec "$0" --version`
		cmd = id.command(ctx, shell, "-c", script, filepath.Join(bin, "postgres"), filepath.Dir(dataDir))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run postgres as %s: %w %s", id, err, out)
	}
	return nil
}

// String names the identity in an error.
func (id identity) String() string {
	switch {
	case id.namespace:
		return "nobody in a user namespace"
	case id.other:
		return fmt.Sprintf("user %d", id.uid)
	default:
		return "this user"
	}
}

// command prepares a program to run as this identity.
func (id identity) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if id.override { // takes effect with the first exec, which must be of something within the user's own reach
		name, args = shell, append([]string{"-c", `exec "$0" "$@"`, name}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = serverEnv(), "/", id.sysProcAttr()
	return cmd
}

// sysProcAttr starts a process in a process group of its own (Ctrl-C in a terminal is for weir, which then stops the
// server in order), to be shut down at once when this process dies.
func (id identity) sysProcAttr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	if id.namespace {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getegid(), Size: 1}}
	}
	if id.other {
		attr.Credential = &syscall.Credential{Uid: id.uid, Gid: id.gid}
	}
	if id.override {
		attr.AmbientCaps = []uintptr{capDACOverride}
	}
	return attr
}

// own gives a file or directory that this package made to the identity.
func (id identity) own(path string) error {
	if !id.other {
		return nil
	}
	if err := os.Chown(path, int(id.uid), int(id.gid)); err != nil {
		return fmt.Errorf("give %s to %s: %w", path, id, err)
	}
	return nil
}

func lookupUser(name string) (uid, gid uint32, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, fmt.Errorf("look up user %s: %w", name, err)
	}
	uid64, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, 0, fmt.Errorf("read uid of %s: %w", name, err)
	}
	gid64, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return 0, 0, fmt.Errorf("read gid of %s: %w", name, err)
	}
	return uint32(uid64), uint32(gid64), nil
}

// servesDir says whether a process is a server of the data directory, which a server makes its working directory.
func servesDir(pid int, dataDir string) (serves, known bool) {
	cwd, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false, false
	}
	dir, err := filepath.EvalSymlinks(dataDir)
	return cwd == dir, err == nil
}

// killTree kills a server's first process and the children it had; stopped, it cannot start others meanwhile.
func killTree(p *os.Process) {
	p.Signal(syscall.SIGSTOP) //nolint:errcheck // fails only when it has ended
	for _, child := range childrenOf(p.Pid) {
		syscall.Kill(child, syscall.SIGKILL) //nolint:errcheck // likewise
	}
	p.Kill() //nolint:errcheck // likewise
}

func childrenOf(parent int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // fails only for a malformed pattern
	var children []int
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if _, its := stat(pid); err == nil && its == parent {
			children = append(children, pid)
		}
	}
	return children
}

// processEnded says whether a process is only waited for by its parent any more.
func processEnded(pid int) bool {
	state, _ := stat(pid)
	return state == "Z" || state == "X"
}

// stat returns the state and the parent of a process, nothing when it has gone.
func stat(pid int) (state string, parent int) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // "pid (name) state parent ..."
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1]) // always a number
	return fields[0], parent
}
