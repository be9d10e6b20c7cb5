package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/api"
)

// sendAs sends a body of another type than JSON, with headers name, value, ...
func (s *site) sendAs(body string, headers ...string) (int, string) {
	s.Helper()
	url := s.url + "/v1/queues/q/messages"
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(r)
}

func TestEveryLineOfNDJSONIsAMessage(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	status, text := s.sendAs("{\"payload\":1,\"key\":\"k\"}\r\n\n{\"payload\":{\"a\":2.50},\"headers\":{\"h\":1}}",
		"Content-Type", "application/x-ndjson; charset=utf-8")
	list := s.receiveByID()
	if status != http.StatusCreated || len(list) != 2 || *list[0].Key != "k" || string(list[1].Payload) != `{"a":2.50}` ||
		string(list[1].Headers) != `{"h":1}` {
		t.Errorf("%d %s: %+v", status, text, list)
	}
	for body, location := range map[string]string{
		"{\"payload\":1}\n{\"payload\":":     "line 2",
		"{\"payload\":1}\n\n{\"payloda\":1}": "line 3",
		"{\"payload\":1},{\"payload\":2}":    "line 1",
		"\n":                                 "body.messages",
	} {
		status, text := s.sendAs(body, "Content-Type", "application/x-ndjson")
		p := decode[api.Problem](s, text)
		if status != http.StatusBadRequest || p.SQLState != "WR006" || p.Errors[0].Location != location {
			t.Errorf("%q: %d %s", body, status, text)
		}
	}
	if list := s.receiveByID(); len(list) != 0 {
		t.Errorf("a part of a refused body was sent: %+v", list)
	}
}

const eventJSON = `{"specversion":"1.0","id":"e 1","source":"/shop","type":"order.paid","partitionkey":"k",` +
	`"datacontenttype":"application/json","sequence":7,"data":{"n":1.50}}`

func TestAStructuredEventIsAMessageWithItsAttributesAsHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	if status, text := s.sendAs(eventJSON, "Content-Type", "application/cloudevents+json"); status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	status, text := s.sendAs(eventJSON, "Content-Type", "application/cloudevents+json")
	if out := decode[struct{ Repeated []bool }](s, text); status != http.StatusCreated || !out.Repeated[0] {
		t.Errorf("sent again: %d %s", status, text)
	}
	another := strings.Replace(eventJSON, "e 1", "e 2", 1)
	if status, text := s.sendAs(`[`+another+`,{"specversion":"1.0","id":"2","source":"/","type":"t",
		"data_base64":"AAH/"}]`, "Content-Type", "application/cloudevents-batch+json"); status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	list := s.receiveByID()
	if len(list) != 3 {
		t.Fatalf("%+v", list)
	}
	for i, m := range list[:2] {
		wantMessage(t, m, `{"n":1.50}`, "k", map[string]any{
			"ce-specversion": "1.0", "ce-id": []string{"e 1", "e 2"}[i],
			"ce-source": "/shop", "ce-type": "order.paid", "ce-partitionkey": "k",
			"ce-sequence": 7.0, "content-type": "application/json",
		})
	}
	wantMessage(t, list[2], `"AAH/"`, "", map[string]any{
		"ce-specversion": "1.0", "ce-id": "2", "ce-source": "/", "ce-type": "t", "content-transfer-encoding": "base64",
	})
}

func TestABinaryEventIsAMessageWhateverItsData(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	for i, c := range []struct{ contentType, body, payload string }{
		{"application/json", `{"n":1.50}`, `{"n":1.50}`},
		{"application/vnd.shop+json", `[1]`, `[1]`},
		{"text/plain; charset=utf-8", "grüße", `"grüße"`},
		{"application/octet-stream", "\x00\x01\xff", `"AAH/"`},
		{"application/json", "", `null`},
	} {
		status, text := s.sendAs(c.body, "Content-Type", c.contentType, "Ce-Specversion", "1.0", "Ce-Id", strconv.Itoa(i),
			"Ce-Source", "/b%C3%BCro", "Ce-Type", "t", "Ce-Partitionkey", "k")
		if status != http.StatusCreated {
			t.Fatalf("%s: %d %s", c.contentType, status, text)
		}
		want := map[string]any{
			"ce-specversion": "1.0", "ce-id": strconv.Itoa(i), "ce-source": "/büro", "ce-type": "t", "ce-partitionkey": "k",
			"content-type": c.contentType,
		}
		if strings.HasPrefix(c.payload, `"AA`) {
			want["content-transfer-encoding"] = "base64"
		}
		wantMessage(t, s.receive()[0], c.payload, "k", want)
	}
}

// What is in a payload's text is the sender's business, and comes back as it came.
func TestPayloadsComeBackCharacterByCharacter(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	const payload = `{"b" : 1.10,  "a":"<&>\/", "b":12345678901234567890.10, "c":[ ]}`
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages",
		`{"messages":[{"payload":`+payload+`,"key":"\"payload\":null","headers":{"payload":null}},{"payload":null}]}`)
	text := s.want(http.StatusOK, "POST", "/v1/queues/q/groups/default/receive", `{"max":10}`)
	if !strings.Contains(text, `"payload":`+payload+`,"headers":{"payload":null}`) || !json.Valid([]byte(text)) ||
		!strings.Contains(text, `"payload":null,"headers":null`) {
		t.Errorf("received %s", text)
	}
}

func TestBytesGoInAndOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	for _, sent := range []string{"\x00\x01\xff", "", "{}"} {
		body := `{"messages":[{"body":"` + base64.StdEncoding.EncodeToString([]byte(sent)) + `"}]}`
		want := 1
		if sent != "" { // a request without a body sends nothing
			want++
			if status, text := s.sendAs(sent, "Content-Type", "application/octet-stream"); status != http.StatusCreated {
				t.Fatalf("%q: %d %s", sent, status, text)
			}
		}
		s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", body)
		list := s.receive()
		if len(list) != want {
			t.Errorf("received %d messages, want %d", len(list), want)
		}
		for _, m := range list {
			if m.Body == nil || string(m.Body) != sent || string(m.Payload) != "null" {
				t.Errorf("received %q and the payload %s, want %q", m.Body, m.Payload, sent)
			}
		}
	}
	for body, code := range map[string]string{
		`{"messages":[{"payload":1,"body":"AA=="}]}`: "WR006", `{"messages":[{"key":"k"}]}`: "WR007",
	} {
		if status, text := s.send("POST", "/v1/queues/q/messages", body); status != http.StatusBadRequest ||
			!strings.Contains(text, code) {
			t.Errorf("%s: %d %s, want %s", body, status, text, code)
		}
	}
}

func wantMessage(t *testing.T, m engine.Message, payload, key string, headers map[string]any) {
	t.Helper()
	got := map[string]any{}
	if err := json.Unmarshal(m.Headers, &got); err != nil {
		t.Fatal(err)
	}
	if string(m.Payload) != payload || (m.Key == nil) != (key == "") || m.Key != nil && *m.Key != key {
		t.Errorf("received %s with key %v, want %s with %q", m.Payload, m.Key, payload, key)
	}
	for name, value := range headers {
		if got[name] != value {
			t.Errorf("header %s is %v, want %v", name, got[name], value)
		}
	}
	if len(got) != len(headers) {
		t.Errorf("headers %s, want %v", m.Headers, headers)
	}
}

func TestAnEventThatIsNoneIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	const structured = "application/cloudevents+json"
	for _, c := range []struct{ contentType, body, detail string }{
		{structured, `{`, "too early"},
		{structured, `{"specversion":"1.0","id":"1","source":"/"}`, "attribute type is missing"},
		{structured, `{"specversion":"1.0","id":"","source":"/","type":"t"}`, "attribute id is missing"},
		{structured, `{"specversion":"0.3","id":"1","source":"/","type":"t"}`, `specversion is "0.3"`},
		{structured, `{"specversion":"1.0","id":1,"source":"/","type":"t"}`, "id is not a string"},
		{structured, `{"specversion":"1.0","id":"1","source":"/","type":"t","my_ext":1}`, `"my_ext" is not the name`},
		{structured, `{"specversion":"1.0","id":"1","source":"/","type":"t","ext":{}}`, "ext is neither"},
		{structured, `{"specversion":"1.0","id":"1","source":"/","type":"t","data":1,"data_base64":""}`, "and data_base64"},
		{structured, `{"specversion":"1.0","id":"1","source":"/","type":"t","data_base64":"?"}`, "not a string of base64"},
		{"application/cloudevents-batch+json", `[` + eventJSON + `,{}]`, "body[1]: the attribute id is missing"},
		{"application/cloudevents-batch+json", `[]`, "there is no message"},
		{"application/cloudevents-batch+json", `{}`, "body: a JSON object cannot be read"},
	} {
		got := ask(t, "POST", "/v1/queues/q/messages", c.contentType, c.body)
		if got.Code != http.StatusBadRequest || got.problem.SQLState != "WR006" ||
			!strings.Contains(got.problem.Detail, c.detail) {
			t.Errorf("%s: %d %s", c.body, got.Code, got.Body)
		}
	}
}

func TestABinaryEventWithoutItsAttributesIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	for _, headers := range [][]string{
		{"Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Type", "t"},
		{"Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Type", "t", "Ce-Source", "%ff"},
		{"Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Type", "t", "Ce-Source", "/", "Content-Type", "application/json"},
	} {
		status, text := s.sendAs("{", append([]string{"Content-Type", "text/plain"}, headers...)...)
		if p := decode[api.Problem](s, text); status != http.StatusBadRequest || p.SQLState != "WR006" || p.Hint == "" {
			t.Errorf("%v: %d %s", headers, status, text)
		}
	}
}
