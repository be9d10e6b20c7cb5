package face_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// texts are JSON that jsonb would change, or cannot hold.
var texts = []string{
	`{"b": 1,  "a":1.10, "b":12345678901234567890.10}`, "[ 9007199254740993,\n\t1e2 ]", `"\u00e4 \/ é"`, "null",
	`1e999999`, `{"": {"z":0.0,"y":-0}}`,
}

// shown is a message as it was received: its text, or its bytes.
const shown = `select coalesce(u.payload, '\x' || encode(u.body, 'hex')) || coalesce(u.headers::text, '')
	from weir.%s o
	cross join lateral unnest(o.ids, o.payloads, o.headers, o.bodies) with ordinality u (id, payload, headers, body, i)
	order by coalesce(u.id, o.first_id + u.i)`

// wantShown looks whether a function returns the texts, and after them the bytes.
func wantShown(t *testing.T, db *pgtest.DB, what, call string) {
	t.Helper()
	want := append(slices.Clone(texts), `\x00ff{"type": "x"}`, `\x`)
	if got := pgtest.QueryAll[string](t, db, fmt.Sprintf(shown, call)); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// However a message travels, what comes out is what went in, character by character and byte by byte.
func TestPayloadsComeBackAsTheyWereSent(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		clock := surface.MovableClock(t, db)
		db.Exec(t, "select weir.bind('t', 'q')")
		send := func(call string) {
			t.Helper()
			for _, text := range texts {
				db.Exec(t, fmt.Sprintf(call, "$1"), text) // a parameter without a type
			}
			db.Exec(t, fmt.Sprintf(call, `'\x00ff'::bytea, headers => '{"type": "x"}'`))
			db.Exec(t, fmt.Sprintf(call, `''::bytea`))
		}
		const receive = "receive_records('q', max => 100)"
		send("select weir.send('q', %s)")
		wantShown(t, db, "peek", "peek_records('q', max => 100)")
		wantShown(t, db, "sent one by one", receive)
		const ofClaims = "select max(claim_id) from weir.claims('q')"
		db.Exec(t, "select weir.nack('q', $1, delay => '0')", pgtest.QueryVal[int64](t, db, ofClaims))
		wantShown(t, db, "delivered again", receive)
		claim := pgtest.QueryVal[int64](t, db, ofClaims)
		db.Exec(t, "select weir.reject('q', $1, array(select i * 1000 from generate_series(1, 8) i))", claim)
		dead := pgtest.QueryAll[string](t, db, `select coalesce(payload_text, '\x' || encode(body, 'hex'))
			from weir.dead_letters('q') order by id`)
		if want := append(slices.Clone(texts), `\x00ff`, `\x`); !slices.Equal(dead, want) {
			t.Errorf("dead letters: %q, want %q", dead, want)
		}
		db.Exec(t, "select weir.redrive('q', 'default')")
		wantShown(t, db, "redriven", "pop_records('q', max => 100)")
		send("select weir.publish('t', %s)")
		wantShown(t, db, "published", "pop_records('q', max => 100)")
		send("select weir.send('q', %s, key => 'k')")
		wantShown(t, db, "with a key", "pop_records('q', max => 100)")
		send("select weir.send('q', %s, delay => '1 s')")
		clock.Advance(t, time.Minute)
		wantShown(t, db, "delayed", "pop_records('q', max => 100)")
	})
}

// An untyped literal, a parameter, json, jsonb and bytes each find the function that takes them.
func TestLiteralsJSONAndJSONBAllWorkAsPayloads(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.bind('t', 'q')")
		const plain, binary = `{"b": 1.0,"a":2}`, `{"a": 2, "b": 1.0}`
		for payload, want := range map[string]string{
			`'{"b": 1.0,"a":2}'`: plain, `'{"b": 1.0,"a":2}'::json`: plain, `'{"b": 1.0,"a":2}'::jsonb`: binary,
			`jsonb_build_object('b', 1.0, 'a', 2)`: binary, `(select j from (values ('{"b": 1.0,"a":2}'::json)) v (j))`: plain,
			`payload => '{"b": 1.0,"a":2}'`: plain, `payload => '{"b": 1.0,"a":2}'::jsonb`: binary,
		} {
			for _, call := range []string{
				"weir.send('q', %s)", "weir.send('q'::text, %s)", "weir.send('q'::varchar, %s)", "weir.send('q', %s, key => null)",
				"weir.send('q', %s, headers => '{}', priority => 0)", "weir.publish('t', %s)",
			} {
				call = fmt.Sprintf(call, payload)
				db.Exec(t, "select "+call)
				got := pgtest.QueryAll[string](t, db, "select payloads[1] from weir.pop_records('q')")
				if !slices.Equal(got, []string{want}) {
					t.Errorf("%s: %q, want %q", call, got, want)
				}
			}
		}
		for call, want := range map[string]string{
			`weir.send_batch('q', '{1.0}')`: "1.0", `weir.send_batch('q', array['[1, 2]']::json[])`: "[1, 2]",
			`weir.send_batch('q', array['[1,2]']::jsonb[])`: "[1, 2]", `weir.send_once('q', '{1.0}', '{a}')`: "1.0",
			`weir.send_once('q', array['[1,2]']::jsonb[], '{b}')`:                  "[1, 2]",
			`weir.publish_batch('t', array['[1,2]']::json[])`:                      "[1,2]",
			`weir.publish_batch('t', array['[1,2]']::jsonb[])`:                     "[1, 2]",
			`weir.enqueue('q', 'k')`:                                               "{}",
			`weir.enqueue('q', 'k', '[1,2]')`:                                      "[1,2]",
			`weir.enqueue('q', 'k', '[1,2]'::jsonb)`:                               "[1, 2]",
			`weir.enqueue('q', 'k', '[1,2]', is_unique => true)`:                   "[1,2]",
			`weir.enqueue_batch('q', array['{"kind":"k","args":[1,2]}']::json[])`:  "[1,2]",
			`weir.enqueue_batch('q', array['{"kind":"k","args":[1,2]}']::jsonb[])`: "[1, 2]",
			`weir.send('q', '\x5b5d'::bytea)`:                                      hex.EncodeToString([]byte("[]")),
			`weir.send('q', body => '\x5b5d')`:                                     hex.EncodeToString([]byte("[]")),
			`weir.send('q', '\x5b5d'::bytea, dedup_key => 'd')`:                    hex.EncodeToString([]byte("[]")),
			`weir.send_batch('q', null, bodies => array['\x5b5d'::bytea])`:         hex.EncodeToString([]byte("[]")),
			`weir.publish('t', '\x5b5d'::bytea)`:                                   hex.EncodeToString([]byte("[]")),
		} {
			db.Exec(t, "select "+call)
			got := pgtest.QueryAll[string](t, db,
				"select coalesce(payloads[1], encode(bodies[1], 'hex')) from weir.pop_records('q')")
			if !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %q, want %q", call, got, want)
			}
		}
	})
}

// Rows have jsonb. What it cannot hold stops no receive: it is the body.
func TestWhatJSONBCannotHoldIsTheBodyOfARow(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		for _, payload := range []string{"1", "1e999999", "2"} {
			db.Exec(t, "select weir.send('q', $1)", payload)
		}
		db.Exec(t, "select weir.send_batch('q', array['3', '[1e999999]', '4']::json[])")
		db.Exec(t, "select weir.send('q', '\\x00'::bytea)")
		want := []string{"1", "1e999999", "2", "3", "[1e999999]", "4", `\000`}
		const row = "coalesce(payload::text, encode(body, 'escape'))"
		for _, call := range []string{
			"weir.peek('q', max => 100)", "weir.get_many('q', '{1000,2000,3000,4000,4001,4002,5000}')",
			"weir.receive('q', max => 100)",
		} {
			if got := pgtest.QueryAll[string](t, db, "select "+row+" from "+call); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", call, got, want)
			}
		}
	})
}

// What is refused is refused before it is in the log, whichever way it comes.
func TestWhatIsNoPayloadIsRefused(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.configure_queue('q', message_bytes_max => 1024)")
		for payload, state := range map[string]string{
			`'{"a"'`: "22P02", `'"\u0000"'`: "22P05", `'"\ud800"'`: "22P02", `'{"\u0000":1}'::json`: "22P05", `null`: "WR007",
			`null::jsonb`: "WR007", `null::bytea`: "WR007", `to_json(repeat('x', 1023))`: "WR008",
			`convert_to(repeat('x', 1025), 'UTF8')`: "WR008",
		} {
			for _, call := range []string{
				"select weir.send('q', %s)", "select weir.send('q', %s, delay => '1 h')", "select weir.send('q', %s, key => 'k')",
				"select weir.send('q', %s, dedup_key => 'k')",
			} {
				fails(t, db, state, fmt.Sprintf(call, payload))
			}
		}
		for _, batch := range []string{
			`array['1', '"\u0000"']::json[]`, `array['"\u0000"']::json[], headers => array['{}']::jsonb[]`,
		} {
			fails(t, db, "22P05", fmt.Sprintf("select weir.send_batch('q', %s)", batch))
		}
		fails(t, db, "WR007", "select weir.send_batch('q', array['1', null]::json[])")
		fails(t, db, "WR007", `select weir.send_batch('q', array['1', null]::json[], bodies => array[null, null]::bytea[])`)
		fails(t, db, "WR006", `select weir.send_batch('q', '{1}', bodies => array['\x00'::bytea])`)
		fails(t, db, "WR006", `select weir.send_batch('q', '{1,2}', bodies => array['\x00'::bytea])`)
		want(t, db, 0, "select count(*) from weir.peek('q')")
		db.Exec(t, "select weir.send('q', to_json(repeat('x', 1022)))")
		db.Exec(t, "select weir.send('q', convert_to(repeat('x', 1024), 'UTF8'))")
	})
}
