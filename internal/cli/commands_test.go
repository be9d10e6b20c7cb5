package cli_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/cli"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestEveryCommandOnAClaimDoesWhatItSays(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.batch("1, 2, 3", "0")
	if out := s.ok("", "peek", "q", "--max", "2"); strings.Count(out, "\n") != 3 || !strings.Contains(out, "PAYLOAD\n1") {
		t.Errorf("peek printed %q", out)
	}
	claim := strconv.FormatInt(lines[received](t, s.ok("", "receive", "q", "--max", "3"))[0].ClaimID, 10)
	for _, step := range []struct{ args, want string }{
		{"extend q " + claim + " --lease 2h", "lasts until 20"},
		{"ack q " + claim + " 1000", "finished 1 message"},
		{"get q 1001", "group default  claimed, claim " + claim + " of process "},
		{"nack q " + claim + " 1001 --delay 1h --reason busy", "gave back 1 message"},
		{"get q 1001", ", delivered 1 time\nreason"},
		{"get q 1001 -o json", `"reason":"busy"`},
		{"reject q " + claim + " 1002 --reason no", "rejected 1 message"},
		{"dead list q", "no"},
		{"dead show q 1002", "payload"},
		{"status q", "q      default  0        0        1        0       1"},
		{"dead redrive q 1002", "sent back 1 dead letter"},
		{"receive q", `"id":1002,`},
		{"reject q " + claim + " 1002", "rejected 0 messages"},
	} {
		if out := s.ok("", strings.Fields(step.args)...); !strings.Contains(out, step.want) {
			t.Errorf("weir %s printed %q, want something with %q", step.args, out, step.want)
		}
	}
}

func TestTrackedJobsAreListedByStateAndKind(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for _, step := range []struct{ args, want string }{
		{"job enqueue q mail --tracked", "job 1000 of queue q is enqueued"},
		{"job enqueue q bill --tracked", "job 2000 of queue q is enqueued"},
		{"job cancel q 2000 --reason late", "will not run"},
		{"job list q --state waiting", "\n1000  mail  waiting  0"},
		{"job list q --kind bill", "\n2000  bill  cancelled  0"},
		{"job list q --after 1000 -o json", `[{"id":2000,`},
	} {
		if out := s.ok("", strings.Fields(step.args)...); !strings.Contains(out, step.want) {
			t.Errorf("weir %s printed %q, want something with %q", step.args, out, step.want)
		}
	}
	s.fails(2, "WR006", "", "job", "list", "q", "--state", "asleep")
}

func TestMessagesThatReceiveWroteAreSettledTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n2\n3\n", "send", "q")
	first, second := s.ok("", "receive", "q"), s.ok("", "receive", "q", "--max", "2")
	s.fails(3, "WR009", first+`{"id":1,"claim_id":999999999}`, "ack", "q")
	s.fails(2, "message 2 on standard input has no id or no claim_id", first+`{"id":1}`, "ack", "q")
	s.fails(2, "message 2 on standard input", first+"{", "ack", "q")
	if out := s.ok(second+first, "ack", "q", "-o", "json"); out != `{"finished":3}`+"\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok(first, "ack", "q"); out != "finished 0 messages\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("", "ack", "q"); out != "finished 0 messages\n" {
		t.Errorf("nothing on standard input printed %q", out)
	}
}

func TestLogsAreMadeUsedShownAndDropped(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for _, step := range []struct{ args, want string }{
		{"log create own --unlogged --retention 1h", "log own is there"},
		{"log create own --unlogged --retention 1h", "log own is there"},
		{"log configure own --segment-bytes 131072", "log own is configured"},
		{"queue create mine --log own --ordered", "queue mine is there"},
		{"queue create mine --log own --ordered", "queue mine is there"},
		{"group show mine default -o json", `"ordered":true`},
		{"log list", "own   true      128 KiB  16 MiB  1h         1"},
		{"log list -o json", `"log":"main","unlogged":false`},
		{"queue drop mine --yes", "queue mine is gone"},
		{"log drop own", "log own is gone"},
	} {
		if out := s.ok("", strings.Fields(step.args)...); !strings.Contains(out, step.want) {
			t.Errorf("weir %s printed %q, want something with %q", step.args, out, step.want)
		}
	}
}

func TestTheListsOfAGroupAreShownPageByPage(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("", "group", "create", "q", "o", "--ordered")
	s.ok(`{"payload":1,"key":"a"}`+"\n"+`{"payload":2,"key":"b"}`+"\n", "send", "q", "--envelope")
	for range 2 {
		claim := strconv.FormatInt(lines[received](t, s.ok("", "receive", "q", "--group", "o"))[0].ClaimID, 10)
		s.ok("", "nack", "q", claim, "--all", "--delay", "1h", "--reason", "no flour")
	}
	first := strconv.FormatInt(lines[received](t, s.ok("", "receive", "q"))[0].ClaimID, 10)
	second := strconv.FormatInt(lines[received](t, s.ok("", "receive", "q"))[0].ClaimID, 10)
	s.batch("3, 4", "2 hours")
	for _, step := range []struct {
		args      string
		want, not string
	}{
		{"claims q", second, "no flour"},
		{"claims q --max 1", "\n" + first + " ", "\n" + second + " "},
		{"claims q --after " + first, "\n" + second + " ", "\n" + first + " "},
		{"delayed q", "PAYLOAD\n2000", "no flour"},
		{"delayed q --after 2000", "\n2001 ", "\n2000 "},
		{"parked-keys q --group o", "time       20", "\n-"},
		{"parked-keys q --group o --after a", "\nb    -", "\na "},
		{"parked-keys q --group o --after-lane 0", "REASON\n", "no flour"},
		{"parked-keys q --group o -o json", `"reason":"no flour"`, "REASON"},
	} {
		out := s.ok("", strings.Fields(step.args)...)
		if !strings.Contains(out, step.want) || strings.Contains(out, step.not) {
			t.Errorf("weir %s printed %q, want something with %q and without %q", step.args, out, step.want, step.not)
		}
	}
	s.fails(2, "WR006", "", "parked-keys", "q", "--after", "a", "--after-lane", "1")
}

func TestReleasedMessagesAreReceivedAgainAsTheirFirstAttempt(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n2\n", "send", "q")
	claim := strconv.FormatInt(lines[received](t, s.ok("", "receive", "q", "--max", "2"))[0].ClaimID, 10)
	if out := s.ok("", "release", "q", claim, "1000", "-o", "json"); out != `{"finished":1}`+"\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("", "release", "q", claim, "--all"); out != "gave back 1 message\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("", "receive", "q", "--max", "2"); strings.Count(out, `"attempt":1,`) != 2 {
		t.Errorf("received again %q", out)
	}
}

func TestDeadLettersAreOnlyTouchedByNameOrAllOnRequest(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.batch("1, 2, 3", "0")
	s.ok(s.ok("", "receive", "q", "--max", "3"), "reject", "q")
	s.fails(2, "--all", "", "dead", "discard", "q")
	s.fails(2, "--all", "", "dead", "discard", "q", "1000", "--all")
	s.fails(3, "WR017", "", "dead", "discard", "q", "77")
	if out := s.ok("", "dead", "discard", "q", "1001"); out != "discarded 1 dead letter\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("", "dead", "redrive", "q", "--all"); out != "sent back 2 dead letters\n" {
		t.Errorf("printed %q", out)
	}
}

func TestADeadLetterIsShownWhole(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	long := strings.Repeat("x", 200)
	for _, reason := range []string{
		"short", long, "Traceback:\n\tFile \"a.py\"\n" + long + "\nValueError: \x1b[31mno\n",
	} {
		s.ok("", "send", "q", `{"a":1}`, "--headers", `{"trace":"`+long+`"}`)
		line := s.ok("", "receive", "q")
		got := lines[received](t, line)[0]
		s.ok(line, "reject", "q", "--reason", reason)
		out := s.ok("", "dead", "show", "q", strconv.FormatInt(got.ID, 10))
		for line := range strings.Lines(reason) {
			line = strings.NewReplacer("\n", "", "\t", "    ", "\x1b", " ").Replace(line)
			if !strings.Contains(out, line+"\n") {
				t.Errorf("no line %q in\n%s", line, out)
			}
		}
		if !strings.Contains(out, long+`"}`) || strings.Contains(out, "\x1b") {
			t.Errorf("headers are cut, or the terminal is written to:\n%s", out)
		}
	}
}

func TestQueuesAndGroupsAreMadeShownAndDropped(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for _, step := range []struct{ args, want string }{
		{"queue list", "q      main  16     1           1m  "},
		{"queue show q", "default"},
		{"group create q g --max-attempts 3 --backoff-min 10ms --start end", "group g of queue q is there"},
		{"group list q", "default"},
		{"group show q g", "10ms"},
		{"queue list -o json", `"lanes":16`},
		{"group show q g -o json", `"backoff_min_ms":10`},
		{"group drop q g --yes", "group g of queue q is gone"},
		{"queue drop q --yes", "queue q is gone"},
		{"queue list -o json", "[]"},
		{"status", "no queues yet: weir queue create NAME makes one"},
		{"dsn", "postgres://"},
	} {
		if out := s.ok("", strings.Fields(step.args)...); !strings.Contains(out, step.want) {
			t.Errorf("weir %s printed %q, want something with %q", step.args, out, step.want)
		}
	}
}

func TestQueuesAndGroupsAreConfiguredPausedAndPurged(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n2\n3\n", "send", "q")
	s.ok("", "group", "create", "q", "g", "--ordered")
	for _, step := range []struct{ args, want string }{
		{"queue configure q --message-bytes-max 2000 --ttl 48h --aging 5s", "queue q is configured"},
		{"queue list -o json", `"aging_ms":5000,"ttl_ms":172800000,`},
		{"queue list -o json", `"log":"main","lanes":16,"message_bytes_max":2000`},
		{"queue create levels --priorities 2 --dedup-window 1h --backlog-max 5", "queue levels is there"},
		{"queue show levels -o json", `"dedup_window_ms":3600000,"backlog_max":5`},
		{"send levels 1 --priority 1", "000\n"},
		{"group configure q g --max-attempts 2 --backoff-max 1m", "group g of queue q is configured"},
		{"group show q g -o json", `"max_attempts":2,"backoff_min_ms":1000,"backoff_max_ms":60000`},
		{"queue pause q", "queue q is paused"},
		{"queue show q -o json", `"paused":true`},
		{"status", "\nq is paused: it delivers nothing\n"},
		{"status q", "\ng of q is paused: it gets nothing\n"},
		{"status -o json", `"paused":[{"queue":"q"}]`},
		{"top --once", "q            2  paused"},
		{"top --once q", "paused: nothing is delivered"},
		{"receive q", ""},
		{"queue resume q", "queue q is no longer paused"},
		{"group pause q g", "group g of queue q is paused"},
		{"group show q g -o json", `"paused":true`},
		{"status q -o json", `"paused":[{"queue":"q","group":"g"}]`},
		{"status -o json", `"paused":[]`},
		{"group resume q g", "group g of queue q is no longer paused"},
		{"receive q", `"payload":1`},
		{"get q 1000", "group default  claimed, claim 1 of process "},
		{"get q 1000", "\ngroup g        waiting\n"},
		{"get q 1000 -o json", `"states":{"default":"claimed","g":"waiting"}`},
		{"group seek q default start", "group default of queue q is at start"},
		{"receive q", `"payload":1`},
		{"group purge q g --yes", "purged 3 messages"},
		{"queue purge q --yes", "purged 3 messages"},
		{"queue purge q --yes -o json", `{"purged":0}`},
		{"queue rename q renamed", "queue renamed is the new name"},
		{"queue show renamed", "renamed"},
	} {
		out := s.ok("", strings.Fields(step.args)...)
		if !strings.Contains(out, step.want) || step.want == "" && out != "" {
			t.Errorf("weir %s printed %q, want something with %q", step.args, out, step.want)
		}
	}
}

func TestTheDoctorFailsWhenMessagesWaitAndNamesTheCure(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("", "doctor")
	s.db.Exec(t, "update weir_internal.queues set origin = '{}'") // as if it had come in a dump
	s.db.Exec(t, "update weir_internal.logs set origin = '{}'")
	r := s.fails(1, "something is wrong", "", "doctor")
	if !strings.Contains(r.out, "restored") || !strings.Contains(r.out, "cure: ") {
		t.Errorf("printed %s", r.out)
	}
	if out := s.ok("", "adopt"); out != "adopted 1 queue\n" {
		t.Errorf("printed %q", out)
	}
	first := s.ok("", "send", "q", "1", "--dedup-key", "k")
	if again := s.ok("", "send", "q", "1", "--dedup-key", "k"); again != first {
		t.Errorf("a repeat printed %q, the first %q", again, first)
	}
	if out := s.ok(`{"payload":1,"dedup_key":"k"}`, "send", "q", "--envelope"); out != first {
		t.Errorf("a repeat in an envelope printed %q, the first %q", out, first)
	}
}

func TestARoleMaySendFromItsGrantToItsRevoke(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	role := s.db.Role(t)
	send := []string{"--dsn", s.db.Server.SocketDSN(role, s.db.Name), "send", "q", "1"}
	s.fails(6, "42501", "", send...)
	if out := s.ok("", "grant", "produce", "q", role); out != "role "+role+" may now send to queue q\n" {
		t.Errorf("printed %q", out)
	}
	s.ok("", send...)
	s.ok("", "revoke", "produce", "q", role)
	s.fails(6, "42501", "", send...)
}

func TestTopicsAreBoundRoutedAndPublished(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for _, step := range []struct{ args, want string }{
		{"topic bind order.* q", "order.* leads to queue q"},
		{"topic list", "order.*  q"},
		{"topic route order.paid", "q\n"},
		{"topic route user.new -o json", "[]"},
		{"publish order.paid 5 --key k", "q      1000"},
		{"receive q", `"key":"k","payload":5`},
		{"publish user.new 5 -o json", "[]"},
		{"topic unbind order.* q", "order.* leads to queue q no longer"},
		{"topic unbind order.* q -o json", `{"unbound":false}`},
	} {
		if out := s.ok("", strings.Fields(step.args)...); !strings.Contains(out, step.want) {
			t.Errorf("weir %s printed %q, want something with %q", step.args, out, step.want)
		}
	}
}

func TestEveryKindOfFailureHasItsExitCodeAndItsCure(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"frobnicate", 2, "unknown command"},
		{"receives q", 2, "Did you mean receive?"},
		{"pause q", 2, "Did you mean group pause or queue pause or schedule pause?"},
		{"receive q --max many", 2, "--max many: it is a whole number\n"},
		{"receive q --max 99999999999999999999", 2, "out of range"},
		{"receive q --lease 5", 2, "--lease 5: it is a time with its unit"},
		{"receive q --ack=perhaps", 2, "--ack perhaps: it is true or false"},
		{"send", 2, "usage: weir send QUEUE [PAYLOAD]"},
		{"send q 1 --frob", 2, "unknown flag"},
		{"status -o xml", 2, "table or json"},
		{"ack q one", 2, "is not a claim id"},
		{"ack q 1 one", 2, "is not a message id"},
		{"send q 1 --headers {", 2, "--headers is not JSON"},
		{"send q 1 --atomic", 2, "standard input"},
		{"queue create No/Good", 2, "WR005"},
		{"receive q --max 1 --lease 0s", 2, "WR006"},
		{"queue configure q", 2, "name a setting"},
		{"group configure q default", 2, "name a setting"},
		{"queue configure q --message-bytes-max 1", 2, "WR006"},
		{"group configure q default --backoff-min soon", 2, "--backoff-min soon: it is a time"},
		{"grant own q somebody", 2, "produce, consume and admin"},
		{"grant produce q nobody-of-this-name", 2, "WR006"},
		{"topic bind a..b q", 2, "WR005"},
		{"publish order.paid {", 2, "not JSON"},
		{"queue pause none", 3, "WR001"},
		{"queue rename q Not/Good", 2, "WR005"},
		{"queue rename none other", 3, "WR001"},
		{"tail none", 3, "WR001"},
		{"send q --dedup-key k", 2, "one PAYLOAD"},
		{"adopt none", 2, "WR006"},
		{"get q 77", 3, "WR018"},
		{"get q one", 2, "not a message id"},
		{"get none 1", 3, "WR001"},
		{"group seek q default yesterweek", 2, "WR006"},
		{"group seek q default 77", 3, "WR018"},
		{"group seek q none end", 3, "WR003"},
		{"send q 1 --priority 1", 2, "WR006"},
		{"send q 1 --delay -1s", 2, "WR006"},
		{"queue create levels --lanes 257", 2, "WR006"},
		{"queue configure q --ttl -1s", 2, "WR006"},
		{"tail q --max -1", 2, "at least 1"},
		{"tail q --start yesterweek", 2, "WR006"},
		{"group resume q none", 3, "WR003"},
		{"group purge q none", 3, "WR003"},
		{"ack q 999999999 --all", 3, "WR009"},
		{"dead show q 1", 3, "WR017"},
		{"queue create q --lanes 3", 4, "WR002"},
		{"group create q default", 4, "WR004"},
		{"status --dsn postgres://127.0.0.1:1/x", 5, "08001"},
		{"status --dsn nonsense", 2, "invalid_dsn"},
		{"serve --listen 0.0.0.0:0", 4, "no authentication"},
	} {
		s.fails(c.code, c.says, "", strings.Fields(c.args)...)
	}
}

func TestWhatNamesNoMessagesOrNoSettingIsRefused(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for args, says := range map[string]string{
		"ack q 1": "say --all", "ack q 1 1000 --all": "say --all", "ack q --all": "name it",
		"reject q 1": "by id", "reject q 1 --all": "unknown flag",
		"log create No/Good": "WR005", "log configure main": "name a setting", "log drop main": "WR006",
	} {
		s.fails(2, says, "", strings.Fields(args)...)
	}
}

func TestTheHintForAMissingQueueOrGroupIsTheCommandThatMakesItOrWhichNamesThereAre(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	const noQueue, noGroup = "No queue has such a name. Use 1 to 47", "No group has such a name. Use 1 to 47"
	for args, hint := range map[string]string{
		"send none 1":                              "weir queue create none",
		"queue show none":                          "weir queue create none",
		"queue configure none --lanes 3":           "weir queue create none",
		"revoke admin none postgres":               "weir queue create none",
		"topic bind a.b none":                      "weir queue create none",
		"send Orders 1":                            noQueue,
		"queue show Orders":                        noQueue,
		"receive q --group none":                   "weir group create q none",
		"group show q none":                        "weir group create q none",
		"group configure q none --max-attempts 2":  "weir group create q none",
		"receive q --group Bills":                  noGroup,
		"group show q Bills":                       noGroup,
		"group configure q Bills --max-attempts 2": noGroup,
	} {
		s.fails(3, "hint: "+hint, "", strings.Fields(args)...)
	}
}

func TestAMeasurementRefusesTheFlagsOfOthers(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	for _, args := range []string{
		"size --payload-bytes 22", "send --keep 3", "http --fanout 2",
	} {
		s.fails(2, "unknown flag", "", append([]string{"bench"}, strings.Fields(args)...)...)
	}
}

func TestAMissingRightHasItsExitCode(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	dsn := s.db.Server.SocketDSN(s.db.Role(t), s.db.Name)
	s.fails(6, "42501", "", "--dsn", dsn, "send", "q", "1")
}

func TestErrorsAreJSONWhenTheOutputIs(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	r := s.fails(3, "", "", "send", "none", "1", "-o", "json")
	var body struct {
		Error struct {
			Message, SQLState, Name, Hint string
			ExitCode                      int `json:"exit_code"`
		}
	}
	if err := json.Unmarshal([]byte(r.errors), &body); err != nil {
		t.Fatalf("%v: %s", err, r.errors)
	}
	e := body.Error
	if e.SQLState != "WR001" || e.Name != "queue_not_found" || e.ExitCode != 3 || e.Hint != "weir queue create none" {
		t.Errorf("%+v", e)
	}
}

func TestInstallPutsTheEngineIntoAnyDatabaseAndPrintsItForOthers(t *testing.T) {
	t.Parallel()
	s := &shell{T: t, db: pgtest.New(t, pgtest.Options{Bare: true})}
	s.fails(1, "hint: The engine is not in this database", "", "queue", "list")
	for _, verb := range []string{"install", "upgrade"} {
		if out := s.ok("", verb); out != "engine "+migrate.Version()+" is in place\n" {
			t.Errorf("%s printed %q", verb, out)
		}
	}
	if out := s.ok("", "queue", "create", "q"); out != "queue q is there\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("", "install", "--print"); !strings.Contains(out, "create schema if not exists weir;") {
		t.Errorf("printed %d bytes", len(out))
	}
	s.fails(2, "Say --yes", "", "uninstall")
	if out := s.ok("", "queue", "list"); !strings.Contains(out, "q") {
		t.Errorf("uninstall without --yes left %q", out)
	}
	if out := s.ok("", "uninstall", "--yes"); out != "the engine is gone, with all its queues\n" {
		t.Errorf("uninstall printed %q", out)
	}
	s.fails(1, "hint: The engine is not in this database", "", "queue", "list")
}

func TestFacesAreInstalledListedAndRemoved(t *testing.T) {
	t.Parallel()
	s := &shell{T: t, db: pgtest.New(t, pgtest.Options{Bare: true})}
	s.fails(1, "Run weir install first", "", "face", "install", "pgmq")
	s.fails(2, `no such face: "sqs"; there is pgmq`, "", "face", "install", "sqs")
	s.fails(2, "no such face", "", "face", "uninstall", "../pgmq", "--yes")
	s.fails(2, "no such face", "", "install", "--print", "--face", "sqs")
	if out := s.ok("", "install", "--face", "pgmq"); out != "engine "+migrate.Version()+" is in place\n" {
		t.Errorf("install printed %q", out)
	}
	if out := s.ok("", "face", "install", "pgmq"); out != "face pgmq is in place\n" {
		t.Errorf("face install printed %q", out)
	}
	s.db.Exec(t, "select pgmq.create('q'), pgmq.send('q', '1')")
	s.db.Exec(t, "drop function pgmq.list_queues()")
	s.ok("", "install")
	if out := s.ok("", "face", "list"); !strings.Contains(out, "pgmq  Weir's face of PGMQ 1.13") {
		t.Errorf("face list printed %q", out)
	}
	if n := pgtest.QueryVal[int](t, s.db, "select count(*) from pgmq.list_queues()"); n != 1 {
		t.Errorf("%d queues after an upgrade of the engine", n)
	}
	if out := s.ok("", "install", "--print", "--face", "pgmq"); !strings.Contains(out, "function pgmq.send(") ||
		!strings.Contains(out, "create schema if not exists weir;") {
		t.Errorf("printed %d bytes", len(out))
	}
	s.fails(2, "Say --yes", "", "face", "uninstall", "pgmq")
	if out := s.ok("", "face", "uninstall", "pgmq", "--yes"); out != "face pgmq is gone, with all its queues\n" {
		t.Errorf("face uninstall printed %q", out)
	}
	if out := s.ok("", "-o", "json", "face", "list"); out != "[]\n" {
		t.Errorf("face list printed %q", out)
	}
}

func TestHelpListsTheExitCodes(t *testing.T) {
	t.Parallel()
	var out, errors strings.Builder
	if code := cli.Run(t.Context(), []string{"weir", "help", "exit-codes"}, nil, &out, &errors); code != 0 {
		t.Errorf("exit code %d: %s", code, errors.String())
	}
	for _, code := range []string{"0", "1", "2", "3", "4", "5", "6", "130"} {
		if !strings.Contains(out.String(), "\n  "+code+" ") {
			t.Errorf("no exit code %s in %s", code, out.String())
		}
	}
}
