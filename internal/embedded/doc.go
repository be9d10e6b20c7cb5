// Package embedded runs a PostgreSQL server as a child of this process, for `weir up` and for the tests.
//
// Start finds PostgreSQL (Find), makes the data directory when there is none, and starts the server on loopback:
//
//	idle --Start--> running --Stop, Kill, crash--> ended --Restart--> running
//
// What holds at all times:
//
//   - A data directory is never deleted, emptied or converted. A new one is made under another name and renamed into
//     place when it is whole; a directory that holds anything else, or another major version, is refused untouched.
//   - One server a data directory. The file <data>.lock is locked by the process that starts the server and inherited
//     by every process of the server, so the lock is free exactly when the last of them has gone, whoever was killed.
//   - No orphan: on Linux the kernel sends the server SIGQUIT when the process that started it dies.
//   - Not root: PostgreSQL refuses to run as root, so root starts it in a user namespace or as another user.
//
// Beside the data directory <data> stand <data>.lock, <data>.password (the superuser's, mode 0600), <data>.log (what
// the server says) and, while it runs, <data>.json (State). The lock of a download is never held together with it.
package embedded
