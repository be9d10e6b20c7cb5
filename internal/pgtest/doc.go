// Package pgtest gives every test a database of its own on a real PostgreSQL of each major version.
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestSendIsVisibleAfterCommit(t *testing.T) {
//		pgtest.EachMajor(t, func(t *testing.T, major int) {
//			db := pgtest.New(t, pgtest.Options{Major: major})
//			db.Exec(t, "select weir.create_queue($1)", "orders")
//			n := pgtest.QueryVal[int64](t, db, "select count(*) from weir.list_queues()")
//			...
//		})
//	}
//
// A test binary starts one server a major version, when a test first asks for it, from a data directory that the
// machine keeps as a template; the engine is installed once a server into a template database, which New copies. The
// database and its connections belong to the ordinary role Owner, as an application's would; DB.Super is for what only
// a superuser may do. These servers have fsync off and lie in memory, where there is room and TMPDIR names
// no other place; StartServer gives a test a durable server of its own, to kill and start again.
//
// Tests wait with WaitFor, WaitForRow and WaitForLock, never by sleeping. WEIR_TEST_PG=14,18 restricts the versions.
// WEIR_TEST_UPGRADE_FROM=<path>/0.1.0.sql.gz has the engine installed over that release.
package pgtest
