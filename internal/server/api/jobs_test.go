package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestAScheduleIsMadeChangedStoppedAndDroppedOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	const path = "/v1/schedules/nightly"
	s.want(http.StatusOK, "PUT", path, `{"queue":"q","kind":"report","cron":"0 3 * * *","time_zone":"Europe/Vienna",
		"args":{"n":1},"headers":{"h":2},"key":"k","tracked":true,"missed":"once"}`)
	type list struct{ Schedules []engine.Schedule }
	show := func(query string) []engine.Schedule {
		return decode[list](s, s.want(http.StatusOK, "GET", "/v1/schedules"+query, "")).Schedules
	}
	got := show("?queue=q")
	if len(got) != 1 || got[0].Name != "nightly" || got[0].Queue != "q" || got[0].TimeZone != "Europe/Vienna" ||
		*got[0].Cron != "0 3 * * *" || got[0].Missed != "once" || string(got[0].Args) != `{"n":1}` || !got[0].Tracked {
		t.Fatalf("schedules: %+v", got)
	}
	if other := show("?queue=p"); len(other) != 0 {
		t.Errorf("schedules of another queue: %+v", other)
	}
	s.want(http.StatusNoContent, "POST", path+"/pause", "")
	if got := show(""); !got[0].Paused {
		t.Errorf("after the pause: %+v", got)
	}
	s.want(http.StatusNoContent, "POST", path+"/resume", "")
	s.want(http.StatusOK, "PUT", path, `{"queue":"q","kind":"report","every_ms":1000}`)
	if got := show(""); got[0].Paused || got[0].Cron != nil || *got[0].Every != engine.Millis(1e9) {
		t.Errorf("after the change: %+v", got)
	}
	pgtest.WaitFor(t, "the schedule to be fired", func() bool {
		return pgtest.QueryVal[int](t, s.db, "select weir.fire_schedules()") > 0
	})
	if m := s.receive(); len(m) == 0 || !strings.Contains(string(m[0].Headers), `"report"`) {
		t.Errorf("it enqueued %+v", m)
	}
	if text := s.want(http.StatusOK, "DELETE", path, ""); text != `{"unscheduled":true}` {
		t.Error(text)
	}
	if text := s.want(http.StatusOK, "DELETE", path, ""); text != `{"unscheduled":false}` {
		t.Error(text)
	}
	for request, want := range map[string]string{
		"POST " + path + "/pause":                                                             "404 WR053",
		`PUT /v1/schedules/x {"queue":"q","kind":"k"}`:                                        "400 WR052",
		`PUT /v1/schedules/x {"queue":"q","kind":"k","cron":"@hourly","every_ms":1}`:          "400 WR052",
		`PUT /v1/schedules/x {"queue":"q","kind":"k","cron":"61 * * * *"}`:                    "400 WR052",
		`PUT /v1/schedules/x {"queue":"q","kind":"k","cron":"@hourly","time_zone":"Nowhere"}`: "400 WR052",
		`PUT /v1/schedules/x {"queue":"p","kind":"k","cron":"@hourly"}`:                       "404 WR001",
		`PUT /v1/schedules/X! {"queue":"q","kind":"k","cron":"@hourly"}`:                      "400 WR005",
	} {
		parts := append(strings.SplitN(request, " ", 3), "")
		status, text := s.send(parts[0], parts[1], parts[2])
		p := decode[struct{ SQLState string }](s, text)
		if got := fmt.Sprint(status, " ", p.SQLState); got != want {
			t.Errorf("%s: %s, want %s", request, text, want)
		}
	}
}

func TestDueTimesOfACronExpressionAreShown(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	text := s.want(http.StatusOK, "GET",
		"/v1/next_times?cron=30+2+*+*+*&time_zone=Europe/Vienna&after=2040-03-24T12:00:00Z&n=2", "")
	if text != `{"times":["2040-03-25T01:00:00Z","2040-03-26T00:30:00Z"]}` { // the clock leaps over the first
		t.Error(text)
	}
	if n := strings.Count(s.want(http.StatusOK, "GET", "/v1/next_times?cron=@daily", ""), "T00:00:00Z"); n != 10 {
		t.Errorf("%d times, want 10 unless told", n)
	}
	s.want(http.StatusBadRequest, "GET", "/v1/next_times", "")
	s.want(http.StatusBadRequest, "GET", "/v1/next_times?cron=never", "")
	s.want(http.StatusBadRequest, "GET", "/v1/next_times?cron=@daily&n=0", "")
}

func TestAWorkflowIsStartedWorkedAtAndShownOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	const queue = "/v1/queues/q"
	start := func(what, body string) int64 {
		t.Helper()
		text := s.want(http.StatusCreated, "POST", queue+"/"+what, body)
		return decode[struct{ Workflow int64 }](s, text).Workflow
	}
	states := func(workflow int64) string {
		t.Helper()
		var all strings.Builder
		text := s.want(http.StatusOK, "GET", fmt.Sprint(queue, "/workflows/", workflow), "")
		for _, step := range decode[struct{ Steps []engine.WorkflowStep }](s, text).Steps {
			fmt.Fprintf(&all, "%s %s %s; ", step.Name, step.State, step.Result)
		}
		return all.String()
	}
	finish := func(result string) {
		t.Helper()
		for _, m := range s.receive() {
			s.want(http.StatusOK, "POST", group+"/finish",
				fmt.Sprintf(`{"jobs":[{"claim_id":%d,"id":%d,"result":%s}]}`, m.ClaimID, m.ID, result))
		}
	}
	const steps = `{"steps":[{"kind":"a","name":"one"},{"kind":"b","name":"two","after":["one"],"args":[2]}],"name":"w"}`
	no := start("workflows", steps)
	if again := start("workflows", steps); again != no {
		t.Errorf("started %d again as %d", no, again)
	}
	if got := states(no); got != "one enqueued null; two planned null; " {
		t.Errorf("at first: %s", got)
	}
	finish("1")
	if got := states(no); got != "one done 1; two enqueued null; " {
		t.Errorf("after the first step: %s", got)
	}
	finish("2")
	chain := start("chains", `{"jobs":[{"kind":"a"},{"kind":"b"}]}`)
	finish("3")
	finish("4")
	batch := start("batches", `{"jobs":[{"kind":"a"},{"kind":"b"}],"callback":{"kind":"c"}}`)
	finish("5")
	got := []string{states(no), states(chain), states(batch), states(1 << 40)}
	want := []string{
		"one done 1; two done 2; ", "1 done 3; 2 done 4; ", "1 done 5; 2 done 5; callback enqueued null; ", "",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("in the end %q, want %q", got, want)
	}
	for request, want := range map[string]string{
		`workflows {"steps":[]}`:                               "WR055",
		`workflows {"steps":[{"kind":""}]}`:                    "WR050",
		`workflows {"steps":[{"kind":"a","after":["b"]}]}`:     "WR055",
		`chains {"jobs":[]}`:                                   "WR055",
		`batches {"jobs":[{"kind":"a"}]}`:                      "WR050",
		`batches {"jobs":[{"kind":"a"}],"callback":{"kind":}}`: "WR006",
	} {
		what, body, _ := strings.Cut(request, " ")
		status, text := s.send("POST", queue+"/"+what, body)
		if p := decode[struct{ SQLState string }](s, text); status != http.StatusBadRequest || p.SQLState != want {
			t.Errorf("%s: %d %s, want %s", request, status, text, want)
		}
	}
}

func TestMessagesAreShownByTheirIDs(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	text := s.want(http.StatusCreated, "POST", "/v1/queues/q/messages",
		`{"messages":[{"payload":1},{"payload":2,"key":"k"},{"payload":3,"delay_ms":60000}]}`)
	ids := decode[struct{ IDs []int64 }](s, text).IDs
	text = s.want(http.StatusOK, "GET",
		fmt.Sprintf("/v1/queues/q/messages?id=%d&id=%d&id=99&id=%d", ids[2], ids[0], ids[1]), "")
	list := decode[struct{ Messages []engine.Stored }](s, text).Messages
	var got strings.Builder
	for _, m := range list {
		fmt.Fprintf(&got, "%s %s; ", m.Payload, m.States["default"])
	}
	if got.String() != "3 delayed; 1 waiting; 2 waiting; " {
		t.Error(text)
	}
	s.want(http.StatusBadRequest, "GET", "/v1/queues/q/messages", "")
	s.want(http.StatusBadRequest, "GET", "/v1/queues/q/messages?id=x", "")
	s.want(http.StatusBadRequest, "GET", "/v1/queues/q/messages?id="+strings.Repeat("1&id=", 1000)+"1", "")
	s.want(http.StatusNotFound, "GET", "/v1/queues/nowhere/messages?id=1", "")
}

func TestManyMessagesOfATopicAreAnsweredInTheirOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "PUT", "/v1/queues/p", `{"lanes":1}`)
	s.want(http.StatusNoContent, "PUT", "/v1/topics/news/queues/q", "")
	s.want(http.StatusNoContent, "PUT", "/v1/topics/news/queues/p", "")
	text := s.want(http.StatusCreated, "POST", "/v1/topics/news/messages", `{"messages":[{"payload":1},{"payload":2},
		{"payload":3,"delay_ms":60000},{"payload":4,"dedup_key":"d"},{"payload":5,"dedup_key":"d"}]}`)
	out := decode[struct {
		Messages []struct{ Sent []engine.Published }
	}](s, text).Messages
	if len(out) != 5 {
		t.Fatal(text)
	}
	for i, m := range out {
		for _, p := range m.Sent {
			var stored engine.Stored
			if err := json.Unmarshal([]byte(s.want(http.StatusOK, "GET",
				fmt.Sprintf("/v1/queues/%s/messages/%d", p.Queue, p.ID), "")), &stored); err != nil {
				t.Fatal(err)
			}
			if want := strconv.Itoa(min(i+1, 4)); string(stored.Payload) != want || p.Repeated != (i == 4) {
				t.Errorf("message %d in queue %s: %+v is %s", i+1, p.Queue, p, stored.Payload)
			}
		}
		if len(m.Sent) != 2 {
			t.Errorf("message %d went to %+v", i+1, m.Sent)
		}
	}
	if text := s.want(http.StatusCreated, "POST", "/v1/topics/nobody/messages", `{"messages":[{"payload":1}]}`); text !=
		`{"messages":[{"sent":[]}]}` {
		t.Error(text)
	}
}

func TestAFullQueueSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusOK, "PATCH", "/v1/queues/q", `{"backlog_max":10}`)
	body := `{"messages":[` + strings.TrimSuffix(strings.Repeat(`{"payload":1},`, 11), ",") + `]}`
	for _, path := range []string{"/v1/queues/q/messages", "/v1/transaction"} {
		if path == "/v1/transaction" {
			body = `{"sends":[{"queue":"q",` + body[1:] + `]}`
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: %s, Retry-After %q", path, response.Status, response.Header.Get("Retry-After"))
		}
	}
}
