package embedded

import (
	"errors"
	"fmt"
)

var (
	// ErrNotRunning says that no server started by this package runs on a data directory.
	ErrNotRunning = errors.New("no running server")
	// ErrChecksum says that a download is not the file whose checksum is pinned.
	ErrChecksum = errors.New("checksum differs from the pinned one")
	// ErrUnsafeArchive says that an archive holds an entry that would be written outside its directory.
	ErrUnsafeArchive = errors.New("unsafe archive")
	// ErrNotDataDir says that a directory is in use for something else and was left untouched.
	ErrNotDataDir = errors.New("not a PostgreSQL data directory")
	// ErrNoPostgres says that no usable PostgreSQL was found and none can be downloaded.
	ErrNoPostgres = errors.New("no usable PostgreSQL")
	// ErrPortInUse says that the port asked for belongs to another process.
	ErrPortInUse = errors.New("port is in use")
	// ErrRoot says that this is root and that no way was found to run PostgreSQL as somebody else.
	ErrRoot = errors.New("PostgreSQL does not run as root")

	errNotServed = errors.New("server does not have it")
)

// AlreadyRunningError says that another server runs on the data directory.
type AlreadyRunningError struct {
	DataDir string
	State   State // zero when the other server does not say
	PID     int   // the server's process, 0 when unknown
}

// Error names the running server and how to reach or stop it.
func (e *AlreadyRunningError) Error() string {
	switch {
	case e.State.DSN != "":
		stop := e.State.OwnerPID
		if !processAlive(stop) {
			stop = e.PID
		}
		return fmt.Sprintf("data directory %s is in use: PostgreSQL runs on it as process %d, started by process %d. "+
			"Use it (`weir dsn` prints its address), or stop it with: kill -INT %d",
			e.DataDir, e.PID, e.State.OwnerPID, stop)
	case e.PID != 0:
		return fmt.Sprintf("data directory %s is in use by the PostgreSQL server with process id %d, which weir did not "+
			"start. Stop it first: kill -INT %d", e.DataDir, e.PID, e.PID)
	default:
		return fmt.Sprintf("data directory %s is in use: another process is starting or stopping PostgreSQL on it, or "+
			"processes of a server that was killed have not ended. Try again, or give another data directory", e.DataDir)
	}
}

// OtherMajorError says that a data directory belongs to another major version than the PostgreSQL at hand.
type OtherMajorError struct {
	DataDir string
	Data    int    // the directory's major version
	Server  int    // the major version that was asked for or found
	BinDir  string // where that one's programs are, "" when it would have been downloaded
}

// Error says what to type: to go on with the directory's version, or to move the data to the newer one.
func (e *OtherMajorError) Error() string {
	bin := e.BinDir
	if bin == "" {
		bin = fmt.Sprintf("/path/to/postgresql-%d/bin", e.Server)
	}
	old := fmt.Sprintf("/path/to/postgresql-%d/bin", e.Data)
	text := fmt.Sprintf("data directory %s was made by PostgreSQL %d, which PostgreSQL %d cannot open; "+
		"it was left untouched.", e.DataDir, e.Data, e.Server)
	if e.Data >= minMajor {
		text += fmt.Sprintf("\nTo go on with version %d:\n    WEIR_PG_BIN=%s weir up", e.Data, old)
	}
	if e.Data > e.Server {
		return text + "\nPostgreSQL has no way back to an older version."
	}
	return text + fmt.Sprintf(`
To move the data to version %[1]d (both versions must be installed whole; not as root, whom PostgreSQL refuses):
    mv %[2]s %[2]s.%[3]d
    %[4]s/initdb -k -E UTF8 --locale=C.UTF-8 -U postgres -A scram-sha-256 --pwfile=%[2]s.password -D %[2]s
    PGPASSWORD=$(cat %[2]s.password) %[4]s/pg_upgrade -U postgres -b %[5]s -B %[4]s -d %[2]s.%[3]d -D %[2]s
    WEIR_PG_BIN=%[4]s weir up`, e.Server, e.DataDir, e.Data, bin, old)
}
