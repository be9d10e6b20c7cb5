package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestAMessageIsSentReceivedAndAcknowledged(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		s := newShell(t, major)
		if out := s.ok("", "send", "q", `{"hello":"world"}`, "--key", "k", "--headers", `{"h":1}`); out != "1000\n" {
			t.Errorf("send printed %q", out)
		}
		out := s.ok("", "receive", "q")
		list := lines[received](t, out)
		if len(list) != 1 {
			t.Fatalf("received %s", out)
		}
		m := list[0]
		if m.ID != 1000 || m.Attempt != 1 || *m.Key != "k" || string(m.Payload) != `{"hello":"world"}` ||
			string(m.Headers) != `{"h":1}` || !strings.Contains(out, `"enqueued_at":"20`) {
			t.Errorf("received %s", out)
		}
		claim := strconv.FormatInt(m.ClaimID, 10)
		for _, want := range []string{"finished 1 message\n", "finished 0 messages\n"} {
			if out := s.ok("", "ack", "q", claim, "--all"); out != want {
				t.Errorf("ack printed %q, want %q", out, want)
			}
		}
		if out := s.ok("", "receive", "q"); out != "" {
			t.Errorf("with nothing to receive it printed %q", out)
		}
	})
}

func TestLinesOfStandardInputAreMessagesInTheirOrder(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	ids := strings.Fields(s.ok("1\n\"two\"\n\n{\"n\": 3}\r\nnull", "send", "q"))
	if len(ids) != 4 || ids[0] != "1000" || !slices.IsSorted(ids) {
		t.Errorf("send printed %q", ids)
	}
	if out := s.ok("5\n", "send", "q", "-o", "json"); !regexp.MustCompile(`^{"id":[2-5]000}\n$`).MatchString(out) {
		t.Errorf("send printed %q", out)
	}
	if out := s.ok("6\n", "send", "q", "--quiet"); out != "" {
		t.Errorf("send printed %q", out)
	}
	if got := payloads(t, s.ok("", "receive", "q", "--max", "10")); got != `1 "two" {"n":3} null 5 6` {
		t.Errorf("received %s", got)
	}
}

func TestAnEnvelopeCarriesKeyHeadersAndDelay(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok(`{"payload":1,"key":"a","headers":{"h":1}}
{"payload":2,"delay_ms":3600000}
{"payload":3}
`, "send", "q", "--envelope", "--key", "flag")
	list := lines[received](t, s.ok("", "receive", "q", "--max", "10"))
	slices.SortFunc(list, func(a, b received) int { return cmp.Compare(a.ID, b.ID) })
	if len(list) != 2 || *list[0].Key != "a" || string(list[0].Headers) != `{"h":1}` || *list[1].Key != "flag" {
		t.Errorf("received %+v", list)
	}
	if out := s.ok("", "status", "q", "-o", "json"); !strings.Contains(out, `"delayed":1`) {
		t.Errorf("status %s", out)
	}
}

func TestAWordThatIsNotJSONIsRefusedWithTheCureAndSentAsTextWhenAskedTo(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	r := s.fails(2, "the payload is not JSON: hello", "", "send", "q", "hello")
	if !strings.Contains(r.errors, "hint: ") || !strings.Contains(r.errors, "--text") {
		t.Errorf("no cure in %s", r.errors)
	}
	s.ok("", "send", "q", "--text", `he said "hello"`)
	s.ok("plain line\n\nlast", "send", "q", "--text")
	if got := payloads(t, s.ok("", "receive", "q", "--max", "10")); got != `"he said \"hello\"" "plain line" "" "last"` {
		t.Errorf("received %s", got)
	}
}

func TestABadLineIsNamedAndNothingFromItOnIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ bad, says string }{
		"not JSON":             {"{oops", "line 3: the payload is not JSON"},
		"refused by the jsonb": {`"\u0000"`, "line 3: send messages: unsupported Unicode escape sequence"},
		"too large":            {`"` + strings.Repeat("x", 2<<20) + `"`, "line 3: send messages: a message for queue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, 0)
			input := "1\n2\n" + c.bad + "\n4\n"
			r := s.fails(2, c.says, input, "send", "q")
			if !strings.Contains(r.errors, "(2 messages sent, up to line 2; nothing from line 3 on)") ||
				len(lines[int64](t, r.out)) != 2 {
				t.Errorf("printed %q and %s", r.out, r.errors)
			}
			if r := s.fails(2, "line 3", input, "send", "q", "--atomic"); r.out != "" ||
				!strings.Contains(r.errors, "(nothing was sent)") {
				t.Errorf("with --atomic printed %q and %s", r.out, r.errors)
			}
			if got := payloads(t, s.ok("", "receive", "q", "--max", "10")); got != "1 2" {
				t.Errorf("received %s", got)
			}
		})
	}
}

func TestAFirstLineThatIsBadSendsNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.fails(2, "(nothing was sent; nothing from line 1 on)", "oops\n1\n", "send", "q")
	s.fails(3, "(nothing was sent; nothing from line 1 on)", "1\n2\n", "send", "none")
	s.fails(2, "it has no payload", `{"key":"a"}`, "send", "q", "--envelope")
}

func TestManyLinesAreSentInOneTransactionOrInBatches(t *testing.T) {
	t.Parallel()
	const n = 12_345
	for _, flags := range [][]string{nil, {"--atomic"}} {
		s := newShell(t, 0)
		var input strings.Builder
		for i := range n {
			fmt.Fprintln(&input, i)
		}
		out := s.ok(input.String(), append([]string{"send", "q"}, flags...)...)
		ids := lines[int64](t, out)
		if len(ids) != n || !slices.IsSorted(ids) {
			t.Fatalf("%v: %d ids", flags, len(ids))
		}
		out = s.ok("", "receive", "q", "--max", strconv.Itoa(2*n), "--ack")
		for i, m := range lines[received](t, out) {
			if string(m.Payload) != strconv.Itoa(i) || m.ID != ids[i] {
				t.Fatalf("%v: message %d is %+v", flags, i, m)
			}
		}
		if got := strings.Count(out, "\n"); got != n {
			t.Errorf("%v: received %d", flags, got)
		}
	}
}

func TestASlowStreamIsSentAsItComes(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	reader, writer := io.Pipe()
	ids, sent := io.Pipe()
	done := make(chan result, 1)
	go func() { done <- s.run(t.Context(), reader, sent, "send", "q") }()
	printed := json.NewDecoder(ids)
	for i := range int64(3) {
		if _, err := fmt.Fprintln(writer, i); err != nil {
			t.Fatal(err)
		}
		var id int64
		if err := printed.Decode(&id); err != nil || id != 1000*(i+1) {
			t.Fatalf("id %d, %v", id, err)
		}
	}
	writer.Close()
	if r := <-done; r.code != 0 {
		t.Errorf("%+v", r)
	}
}
