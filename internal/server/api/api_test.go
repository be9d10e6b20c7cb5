package api_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/api"
)

func TestAMessageGoesThroughHTTPAsItWasSent(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		s := newSite(t, major)
		const payload = `{"big": 12345678901234567890.000000000000000001, "html": "<a&b>", "text": "ünï"}`
		body := fmt.Sprintf(`{"messages":[{"payload":%s,"key":"k","headers":{"h": 1.10}},{"payload":null}]}`, payload)
		text := s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", body)
		ids := decode[struct{ IDs []int64 }](s, text).IDs
		raw := s.want(http.StatusOK, "POST", group+"/receive", `{"max":10,"lease_ms":60000}`)
		list := decode[struct{ Messages []engine.Message }](s, raw).Messages
		slices.SortFunc(list, func(a, b engine.Message) int { return cmp.Compare(a.ID, b.ID) })
		if len(ids) != 2 || len(list) != 2 || list[0].ID != ids[0] || list[1].ID != ids[1] {
			t.Fatalf("sent %s, received %s", text, raw)
		}
		if string(list[0].Payload) != payload || string(list[0].Headers) != `{"h":1.10}` || *list[0].Key != "k" {
			t.Errorf("received %s", raw)
		}
		second := list[1]
		if string(second.Payload) != "null" || second.Key != nil || string(second.Headers) != "null" || second.Attempt != 1 {
			t.Errorf("received %s", raw)
		}
	})
}

func TestAMessageGoesTheWholeWayOfClaimsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2},{"payload":3}]}`)
	first := s.receive()
	claim := first[0].ClaimID
	ask := func(verb, item string) string {
		return s.want(http.StatusOK, "POST", group+"/"+verb, fmt.Sprintf(`{"%ss":[{"claim_id":%d%s}]}`, verb, claim, item))
	}
	finished := func(text, verb string) int {
		list := decode[map[string][]struct{ Finished int }](s, text)[verb+"s"]
		return list[0].Finished
	}
	if n := finished(ask("ack", fmt.Sprintf(`,"ids":[%d]`, first[0].ID)), "ack"); n != 1 {
		t.Errorf("acknowledged %d of one", n)
	}
	deadline := decode[struct {
		Extends []struct{ Deadline time.Time }
	}](s, ask("extend", `,"lease_ms":3600000`)).Extends[0]
	if left := time.Until(deadline.Deadline); left < 50*time.Minute {
		t.Errorf("extended by an hour, %s left", left)
	}
	if n := finished(ask("nack", fmt.Sprintf(`,"ids":[%d],"delay_ms":0,"reason":"busy"`, first[1].ID)), "nack"); n != 1 {
		t.Errorf("gave back %d of one", n)
	}
	if n := finished(ask("reject", fmt.Sprintf(`,"ids":[%d],"reason":"no good"`, first[2].ID)), "reject"); n != 1 {
		t.Errorf("rejected %d, and one was left", n)
	}
	again := s.receive()
	if len(again) != 1 || again[0].ID != first[1].ID || again[0].Attempt != 2 {
		t.Errorf("received again: %+v", again)
	}
	dead := s.want(http.StatusOK, "GET", group+"/dead_letters?max=5", "")
	letters := decode[struct {
		DeadLetters []engine.DeadLetter `json:"dead_letters"`
	}](s, dead).DeadLetters
	if len(letters) != 1 || letters[0].ID != first[2].ID || *letters[0].Reason != "no good" {
		t.Errorf("dead letters %s", dead)
	}
	if text := s.want(http.StatusOK, "POST", group+"/redrive", `{"all":true}`); text != `{"redriven":1}` {
		t.Errorf("redrive: %s", text)
	}
	if list := s.receive(); len(list) != 1 || list[0].ID != first[2].ID {
		t.Errorf("after redrive: %+v", list)
	}
}

func TestReleasedMessagesComeAgainAtOnceAndTheAttemptIsNotCounted(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusOK, "PATCH", group, `{"max_attempts":1,"backoff_min_ms":3600000,"backoff_max_ms":3600000}`)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2}]}`)
	first := s.receive()
	claim := first[0].ClaimID
	part := fmt.Sprintf(`{"claim_id":%d,"ids":[%d]}`, claim, first[1].ID)
	unknown := s.want(http.StatusNotFound, "POST", group+"/release",
		fmt.Sprintf(`{"releases":[%s,{"claim_id":%d,"all":true}]}`, part, claim+1<<30))
	if p := decode[api.Problem](s, unknown); p.SQLState != "WR009" || p.Errors[0].Location != "body.releases[1]" {
		t.Errorf("problem %s", unknown)
	}
	if list := s.receive(); len(list) != 0 {
		t.Errorf("given back by a request that failed: %+v", list)
	}
	text := s.want(http.StatusOK, "POST", group+"/release", `{"releases":[`+part+`,`+part+`]}`)
	want := fmt.Sprintf(`{"releases":[{"claim_id":%d,"finished":1},{"claim_id":%[1]d,"finished":0}]}`, claim)
	if text != want {
		t.Errorf("releases: %s, want %s", text, want)
	}
	s.want(http.StatusOK, "POST", group+"/release", fmt.Sprintf(`{"releases":[{"claim_id":%d,"all":true}]}`, claim))
	again := s.receive()
	if len(again) != 2 || again[0].Attempt != 1 || again[1].Attempt != 1 || again[0].ClaimID == claim {
		t.Errorf("received again: %+v", again)
	}
}

func TestAPutCreatesOrConfiguresAndRefusesWhatCannotChange(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	const queue = "/v1/queues/q"
	s.want(http.StatusOK, "PUT", queue, "")
	text := s.want(http.StatusOK, "PUT", queue, `{"lanes":3,"message_bytes_max":2000}`)
	if q := decode[engine.Queue](s, text); q.MessageBytesMax != 2000 || q.Lanes != 3 {
		t.Errorf("queue %s", text)
	}
	for _, fixed := range []string{`"priorities":2`, `"ordered":true`, `"log":"other"`} {
		text := s.want(http.StatusConflict, "PUT", queue, `{"message_bytes_max":3000,`+fixed+`}`)
		if p := decode[api.Problem](s, text); p.SQLState != "WR002" {
			t.Errorf("problem %s", text)
		}
	}
	text = s.want(http.StatusOK, "PATCH", queue, `{"lanes":4,"ttl_ms":5000}`)
	if q := decode[engine.Queue](s, text); q.Lanes != 4 || q.MessageBytesMax != 2000 ||
		time.Duration(q.TTL) != 5*time.Second {
		t.Errorf("queue %s", text)
	}
	const g = "/v1/queues/q/groups/g"
	s.want(http.StatusCreated, "PUT", g, `{"ordered":true,"max_attempts":3,"backoff_min_ms":10}`)
	s.want(http.StatusOK, "PUT", g, `{"max_attempts":4}`)
	s.want(http.StatusConflict, "PUT", g, `{"ordered":false,"max_attempts":5}`)
	text = s.want(http.StatusOK, "PATCH", g, `{"backoff_max_ms":2000}`)
	shown := decode[engine.Group](s, text)
	if shown.MaxAttempts != 4 || time.Duration(shown.BackoffMin) != 10*time.Millisecond || !shown.Ordered ||
		time.Duration(shown.BackoffMax) != 2*time.Second || text != s.want(http.StatusOK, "GET", g, "") {
		t.Errorf("group %s", text)
	}
	s.want(http.StatusNoContent, "DELETE", g, "")
	s.want(http.StatusNotFound, "GET", g, "")
	s.want(http.StatusNotFound, "PATCH", g, `{"max_attempts":4}`)
	s.want(http.StatusNoContent, "DELETE", queue, "")
	s.want(http.StatusNotFound, "GET", queue, "")
	s.want(http.StatusNotFound, "PATCH", queue, `{}`)
}

func TestPauseResumeSeekPurgeAndRenameOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2}]}`)
	for _, path := range []string{"/v1/queues/q", group} {
		if text := s.want(http.StatusOK, "POST", path+"/pause", ""); !strings.Contains(text, `"paused":true`) {
			t.Errorf("%s: %s", path, text)
		}
		if list := s.receive(); len(list) != 0 {
			t.Errorf("%s is paused: %+v", path, list)
		}
		if text := s.want(http.StatusOK, "POST", path+"/resume", ""); !strings.Contains(text, `"paused":false`) {
			t.Errorf("%s: %s", path, text)
		}
	}
	if first := s.receive(); len(first) != 2 || !strings.Contains(
		s.want(http.StatusOK, "GET", fmt.Sprintf("/v1/queues/q/messages/%d", first[0].ID), ""), `"default":"claimed"`) {
		t.Errorf("received %+v", first)
	}
	s.want(http.StatusOK, "POST", group+"/seek", `{"position":"start"}`)
	if again := s.receive(); len(again) != 2 {
		t.Errorf("after the seek: %+v", again)
	}
	if text := s.want(http.StatusOK, "POST", group+"/purge", ""); text != `{"purged":2}` {
		t.Errorf("purge: %s", text)
	}
	if text := s.want(http.StatusOK, "POST", "/v1/queues/q/purge", ""); text != `{"purged":0}` {
		t.Errorf("purge: %s", text)
	}
	s.want(http.StatusNotFound, "POST", "/v1/queues/none/move", `{"log":"main"}`)
	s.want(http.StatusBadRequest, "POST", "/v1/queues/q/move", `{"log":"none"}`)
	s.want(http.StatusCreated, "PUT", "/v1/logs/own", "")
	text := s.want(http.StatusOK, "POST", "/v1/queues/q/move", `{"log":"own"}`)
	if !strings.Contains(text, `"log":"own"`) || !strings.Contains(text, `"moving_from":"main"`) {
		t.Errorf("move: %s", text)
	}
	s.want(http.StatusConflict, "POST", "/v1/queues/q/move", `{"log":"main"}`)
	text = s.want(http.StatusOK, "POST", "/v1/queues/q/rename", `{"new_name":"other"}`)
	if !strings.Contains(text, `"queue":"other"`) {
		t.Errorf("rename: %s", text)
	}
	s.want(http.StatusNotFound, "GET", "/v1/queues/q", "")
}

func TestAPublishedMessageReachesTheQueuesOfItsTopic(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusNoContent, "PUT", "/v1/topics/order.%23/queues/q", "")
	if text := s.want(http.StatusOK, "GET", "/v1/topics", ""); !strings.Contains(text, `"pattern":"order.#","queue":"q"`) {
		t.Errorf("bindings %s", text)
	}
	if text := s.want(http.StatusOK, "GET", "/v1/topics/order.paid/route", ""); text != `{"queues":["q"]}` {
		t.Errorf("route: %s", text)
	}
	text := s.want(http.StatusCreated, "POST", "/v1/topics/order.paid/messages",
		`{"messages":[{"payload":1,"key":"k"},{"payload":2}]}`)
	list := s.receiveByID()
	want := fmt.Sprintf(`{"messages":[{"sent":[{"queue":"q","id":%d}]},{"sent":[{"queue":"q","id":%d}]}]}`,
		list[0].ID, list[1].ID)
	if text != want || *list[0].Key != "k" {
		t.Errorf("published %s, received %+v", text, list)
	}
	if text := s.want(http.StatusOK, "DELETE", "/v1/topics/order.%23/queues/q", ""); text != `{"unbound":true}` {
		t.Errorf("unbind: %s", text)
	}
	text = s.want(http.StatusCreated, "POST", "/v1/topics/order.paid/messages", `{"messages":[{"payload":1}]}`)
	if text != `{"messages":[{"sent":[]}]}` {
		t.Errorf("published without a binding: %s", text)
	}
}

func TestAPublishedMessageHasItsPriorityAndIsSentOnceByItsDedupKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "PUT", "/v1/queues/levels", `{"priorities":2}`)
	s.want(http.StatusNoContent, "PUT", "/v1/topics/a.b/queues/levels", "")
	const path = "/v1/topics/a.b/messages"
	s.want(http.StatusCreated, "POST", path, `{"messages":[{"payload":"low","dedup_key":"1"}]}`)
	s.want(http.StatusCreated, "POST", path, `{"messages":[{"payload":"high","priority":1}]}`)
	text := s.want(http.StatusCreated, "POST", path, `{"messages":[{"payload":"low","dedup_key":"1"}]}`)
	if !strings.Contains(text, `"repeated":true`) {
		t.Errorf("published again: %s", text)
	}
	text = s.want(http.StatusOK, "POST", "/v1/queues/levels/groups/default/receive", `{"max":5}`)
	list := decode[struct{ Messages []engine.Message }](s, text).Messages
	if len(list) != 2 || string(list[0].Payload) != `"high"` || string(list[1].Payload) != `"low"` {
		t.Errorf("received %s", text)
	}
	s.want(http.StatusNoContent, "PUT", "/v1/topics/a.b/queues/q", "")
	refused := s.want(http.StatusBadRequest, "POST", path, `{"messages":[{"payload":"high","priority":1}]}`)
	if p := decode[api.Problem](s, refused); p.SQLState != "WR006" {
		t.Errorf("a priority that one queue has not: %s", refused)
	}
}

func TestATransactionFinishesAndSendsAcrossQueuesOnceOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "PUT", "/v1/queues/next", "")
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2}]}`)
	list := s.receive()
	item := func(m engine.Message) string {
		return fmt.Sprintf(`{"queue":"q","claim_id":%d,"ids":[%d]}`, m.ClaimID, m.ID)
	}
	send := func(payload string) string {
		return `"sends":[{"queue":"next","messages":[{"payload":"sent"},{"payload":` + payload + `,"delay_ms":60000}]}]`
	}
	next := func() engine.GroupStats {
		stats, err := s.client.Stats(t.Context(), "next")
		if err != nil {
			t.Fatal(err)
		}
		return stats[0]
	}
	refused := s.want(http.StatusRequestEntityTooLarge, "POST", "/v1/transaction",
		`{"acks":[`+item(list[0])+`],`+send(`"`+strings.Repeat("x", 2<<20)+`"`)+`}`)
	if p := decode[api.Problem](s, refused); p.SQLState != "WR008" || p.Errors[0].Location != "body.sends[0]" {
		t.Errorf("problem %s", refused)
	}
	body := `{"acks":[` + item(list[0]) + `],"nacks":[` + item(list[1]) + `],` + send("2") + `}`
	done := decode[struct {
		Acks, Nacks []struct{ Finished int }
		Sends       []struct{ IDs []int64 }
	}](s, s.want(http.StatusOK, "POST", "/v1/transaction", body))
	if done.Acks[0].Finished != 1 || done.Nacks[0].Finished != 1 || len(done.Sends[0].IDs) != 2 {
		t.Errorf("done: %+v", done)
	}
	repeated := s.want(http.StatusConflict, "POST", "/v1/transaction", body)
	if p := decode[api.Problem](s, repeated); p.SQLState != "WR040" || p.Errors[0].Location != "body.acks[0]" {
		t.Errorf("problem %s", repeated)
	}
	if got := next(); got.Waiting != 1 || got.Delayed != 1 {
		t.Errorf("sent %+v", got)
	}
}

func TestATransactionFinishesJobsWithTheirResultsOnceOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "PUT", "/v1/queues/next", "")
	s.want(http.StatusCreated, "POST", "/v1/queues/q/jobs", `{"jobs":[{"kind":"a"},{"kind":"b"}],"tracked":true}`)
	list := s.receive()
	if len(list) != 2 {
		t.Fatalf("received %+v", list)
	}
	body := fmt.Sprintf(`{"finishes":[{"queue":"q","claim_id":%d,"id":%d,"result":{"n":1}},
		{"queue":"q","claim_id":%d,"id":%d}],"sends":[{"queue":"next","messages":[{"payload":1}]}]`,
		list[0].ClaimID, list[0].ID, list[1].ClaimID, list[1].ID)
	show := func(i int) string {
		job := decode[struct {
			State  string
			Result json.RawMessage
		}](s, s.want(http.StatusOK, "GET", fmt.Sprint("/v1/queues/q/jobs/", list[i].ID), ""))
		return job.State + " " + string(job.Result)
	}
	const nowhere = `,"acks":[{"queue":"none","claim_id":1,"all":true}]}`
	refused := s.want(http.StatusNotFound, "POST", "/v1/transaction", body+nowhere)
	if p := decode[api.Problem](s, refused); p.SQLState != "WR001" || p.Errors[0].Location != "body.acks[0]" {
		t.Errorf("problem %s", refused)
	}
	if got := show(0); got != "running null" {
		t.Errorf("finished by a transaction that was undone: %s", got)
	}
	done := s.want(http.StatusOK, "POST", "/v1/transaction", body+`}`)
	want := fmt.Sprintf(`"finishes":[{"claim_id":%d,"finished":1},{"claim_id":%d,"finished":1}]`,
		list[0].ClaimID, list[1].ClaimID)
	if !strings.Contains(done, want) {
		t.Errorf("done: %s, want %s", done, want)
	}
	if got := show(0) + ", " + show(1); got != `done {"n":1}, done null` {
		t.Errorf("jobs: %s", got)
	}
	repeated := s.want(http.StatusConflict, "POST", "/v1/transaction", body+`}`)
	if p := decode[api.Problem](s, repeated); p.SQLState != "WR040" || p.Errors[0].Location != "body.finishes[0]" {
		t.Errorf("problem %s", repeated)
	}
	stats, err := s.client.Stats(t.Context(), "next")
	if err != nil || stats[0].Waiting != 1 {
		t.Errorf("sent on: %+v, %v", stats, err)
	}
}

func TestATransactionReleasesAndRejectsWithItsAcksOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2},{"payload":3}]}`)
	list := s.receive()
	item := func(i int) string {
		return fmt.Sprintf(`[{"queue":"q","claim_id":%d,"ids":[%d]}]`, list[i].ClaimID, list[i].ID)
	}
	body := `{"acks":` + item(0) + `,"releases":` + item(1) + `,"rejects":` + item(2)
	refused := s.want(http.StatusNotFound, "POST", "/v1/transaction",
		body+`,"sends":[{"queue":"none","messages":[{"payload":1}]}]}`)
	if p := decode[api.Problem](s, refused); p.SQLState != "WR001" || p.Errors[0].Location != "body.sends[0]" {
		t.Errorf("problem %s", refused)
	}
	if again := s.receive(); len(again) != 0 {
		t.Errorf("released by a transaction that was undone: %+v", again)
	}
	text := s.want(http.StatusOK, "POST", "/v1/transaction", body+`}`)
	done := decode[struct{ Acks, Nacks, Releases, Rejects []struct{ Finished int } }](s, text)
	if done.Acks[0].Finished != 1 || done.Releases[0].Finished != 1 || done.Rejects[0].Finished != 1 ||
		len(done.Nacks) != 0 {
		t.Errorf("done: %s", text)
	}
	if again := s.receive(); len(again) != 1 || again[0].ID != list[1].ID || again[0].Attempt != 1 {
		t.Errorf("received again: %+v", again)
	}
}

func TestQueuesGroupsAndCountsAreShown(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages",
		`{"messages":[{"payload":1},{"payload":2,"delay_ms":60000}]}`)
	for path, want := range map[string]string{
		"/v1/queues":                         `"queue":"q"`,
		"/v1/queues/q":                       `"waiting":1`,
		"/v1/queues/q/groups":                `"group":"default"`,
		"/v1/stats":                          `"delayed":1`,
		"/v1/stats?queue=q":                  `"delayed":1`,
		"/v1/doctor":                         `"findings":[`,
		group + "/peek?max=5":                `"payload":1`,
		group + "/dead_letters":              `"dead_letters":[]`,
		group + "/claims":                    `"claims":[]`,
		group + "/parked_keys":               `"parked_keys":[]`,
		group + "/delayed":                   `"due_at":`,
		group + "/delayed?after=2000":        `"messages":[]`,
		group + "/parked_keys?after=a&max=1": `"parked_keys":[]`,
		group + "/parked_keys?after_lane=3":  `"parked_keys":[]`,
		"/v1/queues/q/workflows":             `"workflows":[]`,
		"/v1/version":                        `"version":"test"`,
	} {
		if text := s.want(http.StatusOK, "GET", path, ""); !strings.Contains(text, want) {
			t.Errorf("%s: %s has no %s", path, text, want)
		}
	}
	text := s.want(http.StatusOK, "POST", group+"/pop", `{"max":5}`)
	if list := decode[struct{ Messages []engine.Message }](s, text).Messages; len(list) != 1 || len(s.receive()) != 0 {
		t.Errorf("pop: %s", text)
	}
	if text := s.want(http.StatusOK, "POST", group+"/discard", `{"all":true}`); text != `{"discarded":0}` {
		t.Errorf("discard: %s", text)
	}
}

func TestMessagesWithDifferentDelaysAreSentTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	text := s.want(http.StatusCreated, "POST", "/v1/queues/q/messages",
		`{"messages":[{"payload":1},{"payload":2,"delay_ms":60000},{"payload":3}]}`)
	if ids := decode[struct{ IDs []int64 }](s, text).IDs; len(ids) != 3 {
		t.Errorf("ids %s", text)
	}
	s.want(http.StatusBadRequest, "POST", "/v1/queues/q/messages",
		`{"messages":[{"payload":4},{"payload":5,"delay_ms":60000},{"key":"no payload"}]}`)
	stats, err := s.client.Stats(t.Context(), "q")
	if err != nil || stats[0].Waiting != 2 || stats[0].Delayed != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestARepeatOfADedupKeyIsNotSentAndTheAnswerSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	const body = `{"messages":[{"payload":1,"dedup_key":"a"},{"payload":2,"delay_ms":0}]}`
	type answer struct {
		IDs      []int64
		Repeated []bool
	}
	first := decode[answer](s, s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", body))
	again := decode[answer](s, s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", body))
	if first.Repeated[0] || !again.Repeated[0] || again.IDs[0] != first.IDs[0] || again.Repeated[1] {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if list := s.receive(); len(list) != 3 {
		t.Errorf("received %+v", list)
	}
	text := s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`)
	if strings.Contains(text, "repeated") {
		t.Errorf("without dedup keys: %s", text)
	}
}

func TestSeveralAcksHappenTogetherOrNotAtAllAndTheProblemNamesTheWrongOne(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	var claims []int64
	for range 2 {
		s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`)
		claims = append(claims, s.receive()[0].ClaimID)
	}
	text := s.want(http.StatusNotFound, "POST", group+"/ack",
		fmt.Sprintf(`{"acks":[{"claim_id":%d,"all":true},{"claim_id":%d,"all":true}]}`, claims[0], claims[1]+1<<30))
	p := decode[api.Problem](s, text)
	if p.SQLState != "WR009" || len(p.Errors) != 1 || p.Errors[0].Location != "body.acks[1]" {
		t.Errorf("problem %s", text)
	}
	text = s.want(http.StatusOK, "POST", group+"/ack",
		fmt.Sprintf(`{"acks":[{"claim_id":%d,"all":true},{"claim_id":%d,"all":true}]}`, claims[0], claims[1]))
	want := fmt.Sprintf(`{"acks":[{"claim_id":%d,"finished":1},{"claim_id":%d,"finished":1}]}`, claims[0], claims[1])
	if text != want {
		t.Errorf("acks: %s, want %s", text, want)
	}
}

func TestWhatTheEngineRefusesIsAProblemWithItsCodeAndHint(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	for _, c := range []struct {
		method, path, body string
		status             int
		sqlstate           string
	}{
		{"POST", "/v1/queues/none/messages", `{"messages":[{"payload":1}]}`, 404, "WR001"},
		{"GET", "/v1/queues/none", "", 404, "WR001"},
		{"POST", "/v1/queues/q/groups/none/receive", "", 404, "WR003"},
		{"PUT", "/v1/queues/No%20Good", "", 400, "WR005"},
		{"POST", group + "/receive", `{"max":0}`, 400, "WR006"},
		{"POST", group + "/receive", `{"lease_ms":0}`, 400, "WR006"},
		{"POST", "/v1/queues/q/messages", `{"messages":[{"key":"k"}]}`, 400, "WR007"},
		{"POST", "/v1/queues/q/messages", `{"messages":[{"payload":"` + strings.Repeat("x", 2<<20) + `"}]}`, 413, "WR008"},
		{"POST", "/v1/queues/q/messages", `{"messages":[{"payload":"\u0000"}]}`, 400, "22P05"},
		{"POST", group + "/ack", `{"acks":[{"claim_id":1,"all":true}]}`, 404, "WR009"},
		{"POST", group + "/ack", `{"acks":[{"claim_id":1}]}`, 400, "WR006"},
		{"POST", group + "/nack", `{"nacks":[{"claim_id":1,"ids":[1],"all":true}]}`, 400, "WR006"},
		{"POST", group + "/redrive", `{"ids":[1]}`, 404, "WR017"},
		{"POST", group + "/redrive", `{}`, 400, "WR006"},
		{"POST", group + "/discard", `{"ids":[1],"all":true}`, 400, "WR006"},
		{"PATCH", "/v1/queues/q", `{"message_bytes_max":1}`, 400, "WR006"},
		{"PATCH", group, `{"backoff_min_ms":-1}`, 400, "WR006"},
		{"PUT", "/v1/queues/q/groups/new", `{"start":"yesterweek"}`, 400, "WR006"},
		{"POST", "/v1/queues/q/rename", `{"new_name":"Not Good"}`, 400, "WR005"},
		{"GET", "/v1/queues/none/groups/g/events", "", 404, "WR001"},
		{"GET", group + "/peek?max=1831308082365021", "", 400, "WR006"},
		{"GET", group + "/dead_letters?max=-1831308082365021", "", 400, "WR006"},
		{"POST", group + "/receive", `{"max":1831308082365021}`, 400, "WR006"},
		{"GET", group + "/claims?max=1001", "", 400, "WR006"},
		{"GET", group + "/parked_keys?max=0", "", 400, "WR006"},
		{"GET", group + "/parked_keys?after=a&after_lane=0", "", 400, "WR006"},
		{"GET", group + "/delayed?max=-1", "", 400, "WR006"},
		{"GET", "/v1/queues/q/workflows?max=1001", "", 400, "WR006"},
		{"GET", "/v1/queues/none/workflows", "", 404, "WR001"},
		{"GET", "/v1/queues/q/groups/none/claims", "", 404, "WR003"},
		{"PUT", "/v1/queues/new", `{"lanes":1831308082365021}`, 400, "WR006"},
		{"PATCH", "/v1/queues/q", `{"message_bytes_max":1831308082365021}`, 400, "WR006"},
		{"POST", group + "/seek", `{"position":"yesterweek"}`, 400, "WR006"},
		{"POST", group + "/seek", `{"position":"77"}`, 404, "WR018"},
		{"GET", "/v1/queues/q/messages/77", "", 404, "WR018"},
		{"POST", "/v1/queues/q/messages", `{"messages":[{"payload":1,"priority":1}]}`, 400, "WR006"},
		{"PATCH", "/v1/logs/main", `{"retention_ms":-1}`, 400, "WR006"},
		{"PATCH", "/v1/logs/none", `{"retention_ms":1}`, 400, "WR006"},
		{"PUT", "/v1/logs/main", `{"unlogged":true}`, 409, "WR002"},
		{"DELETE", "/v1/logs/main", "", 400, "WR006"},
		{"PUT", "/v1/queues/q", `{"priorities":2}`, 409, "WR002"},
		{"POST", "/v1/queues/none/pause", "", 404, "WR001"},
		{"POST", "/v1/queues/q/groups/none/resume", "", 404, "WR003"},
		{"POST", "/v1/queues/q/groups/none/purge", "", 404, "WR003"},
		{"PUT", "/v1/topics/a..b/queues/q", "", 400, "WR005"},
		{"PUT", "/v1/topics/a.b/queues/none", "", 404, "WR001"},
		{"GET", "/v1/topics/a..b/route", "", 400, "WR005"},
		{"POST", "/v1/topics/a.b/messages", `{"messages":[]}`, 400, "WR006"},
		{"POST", "/v1/transaction", `{}`, 400, "WR006"},
		{"POST", "/v1/transaction", `{"acks":[{"queue":"none","claim_id":1,"all":true}]}`, 404, "WR001"},
	} {
		text := s.want(c.status, c.method, c.path, c.body)
		p := decode[api.Problem](s, text)
		if p.SQLState != c.sqlstate || p.Name == "" || p.Detail == "" || p.Hint == "" && strings.HasPrefix(c.sqlstate, "WR") {
			t.Errorf("%s %s: %s", c.method, c.path, text)
		}
	}
}

// waiting starts a receive that waits for a minute and returns its answer.
func (s *site) waiting(ctx context.Context) <-chan string {
	answer := make(chan string, 1)
	go func() {
		defer close(answer)
		body := strings.NewReader(`{"max":10,"wait_ms":60000}`)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+group+"/receive", body)
		if err != nil {
			s.Error(err)
			return
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return
		}
		defer response.Body.Close()
		var text bytes.Buffer
		if _, err := text.ReadFrom(response.Body); err != nil {
			s.Error(err)
		}
		answer <- strings.TrimSpace(text.String())
	}()
	// It waits once it has looked in vain: a query of the pool, now idle, was a receive.
	pgtest.WaitForRow(s.T, s.db, `select exists (select from pg_stat_activity
		where datname = current_database() and state = 'idle' and query like '%receive_many%')`)
	return answer
}

func TestAReceiveThatWaitsGetsWhatIsSentMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	answer := s.waiting(t.Context())
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":"late"}]}`)
	if text := <-answer; !strings.Contains(text, `"late"`) {
		t.Errorf("received %s", text)
	}
}

func TestAReceiveThatWaitsEndsEmptyWhenTheServerDrainsOrTheTimeIsOver(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	answer := s.waiting(t.Context())
	s.drain()
	if text := <-answer; text != `{"messages":[]}` {
		t.Errorf("received %s", text)
	}
	if text := s.want(http.StatusOK, "POST", group+"/receive", `{"wait_ms":1}`); text != `{"messages":[]}` {
		t.Errorf("received %s", text)
	}
}

func TestAReceiveWhoseClientWentAwayClaimsNothingMore(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	answer := s.waiting(ctx)
	cancel()
	<-answer
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`)
	// Whatever the server claimed before it noticed goes back at once, so the message is there for the next one.
	pgtest.WaitFor(t, "the message", func() bool { return len(s.receive()) == 1 })
}
