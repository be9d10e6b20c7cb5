package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/server/api"
)

// answer is what a request without a database behind it got.
type answer struct {
	*httptest.ResponseRecorder
	problem api.Problem
}

// ask sends a request to an API whose database is never reached.
func ask(t *testing.T, method, path, contentType, body string) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequestWithContext(t.Context(), method, path, nil)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	a := answer{ResponseRecorder: httptest.NewRecorder()}
	api.New(nil, api.Options{Version: "test", BodyMax: 1000}).ServeHTTP(a, r)
	if a.Code >= 400 {
		if err := json.Unmarshal(a.Body.Bytes(), &a.problem); err != nil {
			t.Fatalf("%s %s: the error is not JSON: %v: %s", method, path, err, a.Body)
		}
	}
	return a
}

func TestARequestThatReachesNoFunctionGetsAProblemThatSaysWhy(t *testing.T) {
	t.Parallel()
	const messages, group = "/v1/queues/q/messages", "/v1/queues/q/groups/g"
	for _, c := range []struct {
		method, path, body string
		status             int
		sqlstate, detail   string
	}{
		{"GET", "/nothing", "", 404, "WR006", "there is nothing at /nothing"},
		{"POST", "/v1/queues/q", "", 405, "WR006", "POST is not a method"},
		{"POST", messages, `{"messages":[`, 400, "WR006", "it ends too early"},
		{"POST", messages, `{"messages":[}]}`, 400, "WR006", "not JSON"},
		{"POST", messages, `{"messages":[]}`, 400, "WR006", "there is no message"},
		{"POST", messages, `{"messages":[{"payloda":1}]}`, 400, "WR006", `unknown field "payloda"`},
		{"POST", messages, `{"messages":[{"payload":1,"key":5}]}`, 400, "WR006", "messages.key"},
		{"POST", messages, `{"messages":[{"payload":1}]} {}`, 400, "WR006", "something after"},
		{"POST", messages, "", 400, "WR006", "body is required"},
		{"POST", messages, strings.Repeat(" ", 1001), 413, "WR008", "larger than 1000 bytes"},
		{"POST", messages, `{"messages":[{"payload":1,"delay_ms":9223372036854775807}]}`, 400, "WR006", "[0].delay_ms"},
		{"POST", group + "/reject", `{"rejects":[{"claim_id":1,"all":true}]}`, 400, "WR006", `unknown field "all"`},
		{"POST", group + "/receive", `{"wait_ms":60001}`, 400, "WR006", "60001 is not from 0 to 60000"},
		{"POST", group + "/receive", `{"wait_ms":-1}`, 400, "WR006", "-1 is not from 0"},
		{"POST", group + "/receive", `{"max":"1"}`, 400, "WR006", "max"},
		{"POST", group + "/ack", `{}`, 400, "WR006", "the list is empty"},
		{"POST", group + "/ack", `{"acks":[{"claim_id":1.5}]}`, 400, "WR006", "claim_id"},
		{"PATCH", "/v1/queues/q", `{"ttl_ms":9223372036854775807}`, 400, "WR006", "more than any clock counts"},
		{"PATCH", "/v1/queues/q", `{"ttl_ms":"1 hour"}`, 400, "WR006", "whole number of milliseconds"},
		{"GET", group + "/events?max=0", "", 400, "WR006", "query.max"},
		{"GET", "/v1/queues/q/messages/one", "", 400, "WR006", "path.id"},
		{"GET", group + "/peek?max=many", "", 400, "WR006", "query.max"},
		{"GET", group + "/peek?maximum=1", "", 400, "WR006", "query.maximum"},
	} {
		got := ask(t, c.method, c.path, "application/json", c.body)
		name := c.method + " " + c.path + " " + cut(c.body)
		if got.Code != c.status || got.problem.Status != c.status {
			t.Errorf("%s: status %d, in the body %d, want %d", name, got.Code, got.problem.Status, c.status)
		}
		if kind := got.Header().Get("Content-Type"); kind != "application/problem+json" {
			t.Errorf("%s: content type %q", name, kind)
		}
		if got.problem.SQLState != c.sqlstate || got.problem.Name == "" || got.problem.Title == "" {
			t.Errorf("%s: problem %+v", name, got.problem)
		}
		if !strings.Contains(got.problem.Detail, c.detail) {
			t.Errorf("%s: detail %q, want something with %q", name, got.problem.Detail, c.detail)
		}
	}
}

func cut(s string) string { return s[:min(len(s), 60)] }

func TestAWrongMethodIsToldTheRightOnes(t *testing.T) {
	t.Parallel()
	if got := ask(t, "POST", "/v1/queues/q", "", "").Header().Get("Allow"); got != "DELETE, GET, HEAD, PATCH, PUT" {
		t.Errorf("Allow is %q", got)
	}
}

func TestABodyThatIsNotJSONByItsTypeIsRefusedUnlessCurlSaysSo(t *testing.T) {
	t.Parallel()
	for contentType, status := range map[string]int{
		"text/plain": 415, "application/xml": 415,
		"application/json; charset=utf-8": 400, "application/x-www-form-urlencoded": 400, "application/cloudevents+json": 400,
		"": 400,
	} {
		if got := ask(t, "POST", "/v1/queues/q/messages", contentType, `{"messages":[]}`).Code; got != status {
			t.Errorf("%q: status %d, want %d", contentType, got, status)
		}
	}
}

func TestAProblemNeverRepeatsTheBody(t *testing.T) {
	t.Parallel()
	got := ask(t, "POST", "/v1/queues/q/messages", "", `{"messages":[{"payload":"my secret","x":1}]}`)
	if got.Code != http.StatusBadRequest || strings.Contains(got.Body.String(), "secret") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func TestTheDescriptionListsEveryRouteWithItsProblem(t *testing.T) {
	t.Parallel()
	got := ask(t, "GET", "/openapi.json", "", "")
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Responses   map[string]struct {
				Content map[string]any
			}
		}
	}
	if err := json.Unmarshal(got.Body.Bytes(), &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatalf("version %q: %v", doc.OpenAPI, err)
	}
	operations := 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			operations++
			if _, ok := op.Responses["default"].Content["application/problem+json"]; !ok || op.OperationID == "" {
				t.Errorf("%s %s: operation %q describes no problem", method, path, op.OperationID)
			}
		}
	}
	if operations != 73 {
		t.Errorf("%d operations, want 73", operations)
	}
}

func TestAFailingHandlerAnswersWithAProblemAndTheServerLivesOn(t *testing.T) {
	t.Parallel()
	got := ask(t, "GET", "/v1/queues", "", "") // there is no client behind this API
	if got.Code != http.StatusInternalServerError || got.problem.SQLState != "XX000" {
		t.Errorf("%d %+v", got.Code, got.problem)
	}
}

func TestBodiesThatAreTooManyTogetherAreTurnedAwayAndCountedNoLonger(t *testing.T) {
	t.Parallel()
	handler := api.New(nil, api.Options{BodiesMax: 1500})
	post := func(body io.Reader) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/queues/q/messages", body))
		return w
	}
	part, rest := io.Pipe()
	first := make(chan int, 1)
	go func() { first <- post(part).Code }()
	for _, more := range []int{1000, 0} { // nothing is taken only when what came before it was counted
		if _, err := rest.Write(make([]byte, more)); err != nil {
			t.Fatal(err)
		}
	}
	second := post(strings.NewReader(strings.Repeat(" ", 1000)))
	if second.Code != http.StatusServiceUnavailable || second.Header().Get("Retry-After") == "" {
		t.Errorf("beside another: %d %s", second.Code, second.Body)
	}
	if err := rest.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-first; code != http.StatusBadRequest {
		t.Errorf("the first: %d", code)
	}
	if third := post(strings.NewReader(strings.Repeat(" ", 1000))); third.Code != http.StatusBadRequest {
		t.Errorf("when they are gone: %d %s", third.Code, third.Body)
	}
}

func TestNullStandsForNothingThatHasToBeThere(t *testing.T) {
	t.Parallel()
	const messages, group = "/v1/queues/q/messages", "/v1/queues/q/groups/g"
	for _, c := range []struct{ method, path, body, detail string }{
		{"POST", messages, `null`, "null"},
		{"POST", messages, ` null `, "null"},
		{"POST", messages, `{"messages":[null]}`, "messages[0]"},
		{"POST", messages, `{"messages":[{"payload":1},null]}`, "messages[1]"},
		{"POST", group + "/receive", `null`, "null"},
		{"POST", group + "/pop", `null`, "null"},
		{"POST", group + "/ack", `null`, "null"},
		{"POST", group + "/ack", `{"acks":[null]}`, "acks[0]"},
		{"POST", group + "/ack", `{"acks":[{"claim_id":null}]}`, "acks[0].claim_id"},
		{"POST", group + "/ack", `{"acks":[{"claim_id":1,"ids":[2,null]}]}`, "acks[0].ids[1]"},
		{"POST", group + "/finish", `{"jobs":[null]}`, "jobs[0]"},
		{"POST", group + "/seek", `{"position":null}`, "position"},
		{"POST", group + "/discard", `null`, "null"},
		{"POST", "/v1/transaction", `null`, "null"},
		{"POST", "/v1/transaction", `{"acks":[null]}`, "acks[0]"},
		{"POST", "/v1/transaction", `{"sends":[{"queue":null,"messages":[{"payload":1}]}]}`, "sends[0].queue"},
		{"POST", "/v1/queues/q/jobs", `{"jobs":[null]}`, "jobs[0]"},
		{"POST", "/v1/queues/q/jobs", `null`, "null"},
		{"PUT", "/v1/queues/q", `null`, "null"},
		{"PATCH", group, `null`, "null"},
	} {
		got := ask(t, c.method, c.path, "application/json", c.body)
		if got.Code != http.StatusBadRequest || got.problem.SQLState != "WR006" ||
			!strings.Contains(got.problem.Detail, c.detail) || !strings.Contains(got.problem.Detail, "null") {
			t.Errorf("%s %s: %d %s", c.path, c.body, got.Code, got.Body)
		}
	}
	for contentType, body := range map[string]string{
		"application/x-ndjson": "{\"payload\":1}\nnull\n", "application/cloudevents+json": "null",
		"application/cloudevents-batch+json": "[null]",
	} {
		if got := ask(t, "POST", messages, contentType, body); got.Code != http.StatusBadRequest {
			t.Errorf("%s %q: %d %s", contentType, body, got.Code, got.Body)
		}
	}
}

func TestTextThatIsNoneIsRefusedWhereverItStands(t *testing.T) {
	t.Parallel()
	const messages = "/v1/queues/q/messages"
	for body, detail := range map[string]string{
		`{"messages":[{"payload":1,"key":"\ud800"}]}`:             "half of a character",
		`{"messages":[{"payload":1,"key":"a\uDC00"}]}`:            "half of a character",
		`{"messages":[{"payload":1,"key":"\ud800\u0041"}]}`:       "half of a character",
		`{"messages":[{"payload":1,"key":"\ud83d\ude00\ude00"}]}`: "half of a character",
		`{"messages":[{"payload":1,"dedup_key":"\\\ud800"}]}`:     "half of a character",
		`{"messages":[{"payload":"\ud800"}]}`:                     "half of a character",
		"{\"messages\":[{\"payload\":1,\"key\":\"\xff\"}]}":       "UTF-8",
		"{\"messages\":[{\"payload\":\"\xed\xa0\x80\"}]}":         "UTF-8",
	} {
		got := ask(t, "POST", messages, "application/json", body)
		if got.Code != http.StatusBadRequest || !strings.Contains(got.problem.Detail, detail) {
			t.Errorf("%s: %d %s", body, got.Code, got.Body)
		}
	}
	for contentType, body := range map[string]string{
		"application/x-ndjson":               `{"payload":1,"key":"\ud800"}`,
		"application/cloudevents+json":       `{"specversion":"1.0","id":"\ud800","source":"s","type":"t"}`,
		"application/cloudevents-batch+json": `[{"specversion":"1.0","id":"1","source":"s","type":"t","data":"\udfff"}]`,
	} {
		got := ask(t, "POST", messages, contentType, body)
		if got.Code != http.StatusBadRequest || !strings.Contains(got.problem.Detail, "half of a character") {
			t.Errorf("%s: %d %s", contentType, got.Code, got.Body)
		}
	}
	got := ask(t, "POST", messages, "application/json",
		`{"messages":[{"payloada":1,"key":"\ud83d\ude00\\ud800"}]}`)
	if !strings.Contains(got.problem.Detail, "unknown field") { // the text is one: something else is wrong with it
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
