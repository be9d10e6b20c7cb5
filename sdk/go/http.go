package weir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// httpWaitMax is the longest that a server lets a receive wait.
const httpWaitMax = time.Minute

// httpBackend speaks to a `weir serve`.
type httpBackend struct {
	base   string
	client *http.Client
	token  func(ctx context.Context) (string, error) // nil: the server asks for none
}

func newHTTP(base string, client *http.Client) (*httpBackend, error) {
	if u, err := url.ParseRequestURI(base); err != nil {
		return nil, fmt.Errorf("read URL of server: %w: %w", ErrInvalidArgument, err)
	} else if u.Host == "" {
		return nil, fmt.Errorf("read URL of server: %w: it names no host", ErrInvalidArgument)
	}
	if client == nil {
		transport, ok := http.DefaultTransport.(*http.Transport)
		if !ok {
			return &httpBackend{base: strings.TrimSuffix(base, "/"), client: http.DefaultClient}, nil
		}
		transport = transport.Clone()
		transport.MaxIdleConnsPerHost = 100
		client = &http.Client{Transport: transport}
	}
	return &httpBackend{base: strings.TrimSuffix(base, "/"), client: client}, nil
}

// problem is the body of an error, as RFC 9457 describes it.
type problem struct {
	SQLState  string `json:"sqlstate"`
	Name      string `json:"name"`
	Detail    string `json:"detail"`
	Hint      string `json:"hint"`
	Retryable bool   `json:"retryable"`
}

// call makes a request and reads the answer into out, unless it is nil.
func (h *httpBackend) call(ctx context.Context, method, path string, in, out any) error {
	_, err := h.request(ctx, method, path, in, out)
	return err
}

// create makes something, and reports whether it did: not when it was there.
func (h *httpBackend) create(ctx context.Context, path string, in any) (bool, error) {
	status, err := h.request(ctx, http.MethodPut, path, in, nil)
	return status == http.StatusCreated, err
}

// request is call that returns the status of the answer, too.
func (h *httpBackend) request(ctx context.Context, method, path string, in, out any) (status int, err error) {
	doing := method + " " + path
	var body io.Reader
	if in != nil {
		text, written := in.(writtenBody)
		if !written {
			var err error
			if text, err = json.Marshal(in); err != nil {
				return 0, fmt.Errorf("%s: %w", doing, err)
			}
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, h.base+path, body)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if h.token != nil {
		token, err := h.token(ctx)
		if err != nil {
			return 0, fmt.Errorf("%s: get token: %w", doing, err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := h.client.Do(request)
	if err != nil {
		return 0, h.failure(ctx, doing, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, h.failure(ctx, doing, err)
	}
	if response.StatusCode >= 300 {
		return 0, fmt.Errorf("%s: %w", doing, problemError(response.StatusCode, text))
	}
	if out == nil {
		return response.StatusCode, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, fmt.Errorf("%s: %w: %w", doing, errBadAnswer, err)
	}
	return response.StatusCode, nil
}

// failure is a request that got no answer.
func (h *httpBackend) failure(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil || errors.Is(err, ErrNotInTransaction) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	e := unconnected("cannot connect to the server: "+err.Error(), "Is `weir serve` running at that address?", err)
	var network *net.OpError
	if e.Retryable && (!errors.As(err, &network) || network.Op != "dial") {
		e = broken("the connection to the server broke: "+err.Error(), err)
	}
	return fmt.Errorf("%s: %w", doing, e)
}

// problemError is what the server reported. What stands between may answer, too, and in other words.
func problemError(status int, text []byte) *Error {
	var p problem
	err := json.Unmarshal(text, &p)
	if p.SQLState == "" && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		return &Error{
			Code: ErrNotSupported.Code, Name: ErrNotSupported.Name,
			Message: fmt.Sprintf("the server does not know this call: HTTP status %d", status), Hint: hintOlder,
		}
	}
	if err != nil || p.SQLState == "" {
		return &Error{
			Code: codeBroken, Name: "connection_failure", Message: fmt.Sprintf("HTTP status %d without a reason", status),
			Retryable: status == http.StatusTooManyRequests || status >= 502,
		}
	}
	return &Error{
		Code: p.SQLState, Name: p.Name, Message: p.Detail, Hint: p.Hint, Retryable: p.Retryable,
		reported: !strings.HasPrefix(p.SQLState, "08"),
	}
}

func queuePath(queue string) string { return "/v1/queues/" + url.PathEscape(queue) }

func groupPath(queue, group string) string {
	return queuePath(queue) + "/groups/" + url.PathEscape(group)
}

func topicPath(topic string) string { return "/v1/topics/" + url.PathEscape(topic) }

// httpMessage is a message to send.
type httpMessage struct {
	Key     *string         `json:"key,omitempty"`
	Headers json.RawMessage `json:"headers,omitempty"`
	DelayMS *int64          `json:"delay_ms,omitempty"`

	Priority *int    `json:"priority,omitempty"`
	DedupKey *string `json:"dedup_key,omitempty"`
}

// writtenBody is a request's body that is JSON already.
type writtenBody []byte

// httpMessages writes a list of messages with their payloads as they are, which encoding/json would write anew, behind
// the beginning of a body.
func httpMessages(body writtenBody, batch []jsonMessage, o sendOptions) (writtenBody, error) {
	body = append(body, `"messages":[`...)
	for i, m := range batch {
		if i > 0 {
			body = append(body, ',')
		}
		rest, err := json.Marshal(httpMessage{
			Key: m.key, Headers: rawOf(m.headers), DelayMS: millis(o.delay), Priority: o.priority, DedupKey: m.dedupKey,
		})
		if err != nil {
			return nil, fmt.Errorf("write message: %w", err)
		}
		body = append(append(body, `{"payload":`...), m.payload...)
		if len(rest) > len("{}") {
			body = append(body, ',')
		}
		body = append(body, rest[1:]...)
	}
	return append(body, `]}`...), nil
}

// millis counts milliseconds, upwards: what is not due must not come early.
func millis(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	ms := d.Milliseconds()
	if *d > time.Duration(ms)*time.Millisecond {
		ms++
	}
	return &ms
}

func (h *httpBackend) send(ctx context.Context, queue string, batch []jsonMessage, o sendOptions) ([]int64, error) {
	var out struct{ IDs []int64 }
	in, err := httpMessages(writtenBody(`{`), batch, o)
	if err == nil {
		err = h.call(ctx, http.MethodPost, queuePath(queue)+"/messages", in, &out)
	}
	return out.IDs, err
}

func (h *httpBackend) publish(ctx context.Context, topic string, m jsonMessage, o sendOptions) ([]Published, error) {
	var out struct {
		Messages []struct{ Sent []Published }
	}
	in, err := httpMessages(writtenBody(`{`), []jsonMessage{m}, o)
	if err == nil {
		err = h.call(ctx, http.MethodPost, topicPath(topic)+"/messages", in, &out)
	}
	if err != nil || len(out.Messages) == 0 {
		return nil, err
	}
	return out.Messages[0].Sent, nil
}

// httpReceived is the answer of receive, pop and peek.
type httpReceived struct {
	Messages []struct {
		ID         int64           `json:"id"`
		ClaimID    int64           `json:"claim_id"`
		Attempt    int             `json:"attempt"`
		Key        *string         `json:"key"`
		Payload    json.RawMessage `json:"payload"`
		Body       []byte          `json:"body"`
		Headers    map[string]any  `json:"headers"`
		EnqueuedAt time.Time       `json:"enqueued_at"`
	} `json:"messages"`
}

func (r *httpReceived) messages(queue, group string) []*RawMessage {
	messages := make([]*RawMessage, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = &RawMessage{
			ID: m.ID, ClaimID: m.ClaimID, Attempt: m.Attempt, Payload: m.Payload, Body: m.Body, Headers: m.Headers,
			EnqueuedAt: m.EnqueuedAt.UTC(), Queue: queue, Group: group,
		}
		if m.Key != nil {
			messages[i].Key = *m.Key
		}
		if m.Body != nil {
			messages[i].Payload = nil
		}
	}
	return messages
}

func (h *httpBackend) receive(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	wait := min(max(o.wait, 0), httpWaitMax)
	in := map[string]any{"max": o.max, "lease_ms": millis(&o.lease), "wait_ms": millis(&wait)}
	var out httpReceived
	err := h.call(ctx, http.MethodPost, groupPath(queue, o.group)+"/receive", in, &out)
	return out.messages(queue, o.group), err
}

func (h *httpBackend) pop(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	var out httpReceived
	err := h.call(ctx, http.MethodPost, groupPath(queue, o.group)+"/pop", map[string]any{"max": o.max}, &out)
	return out.messages(queue, o.group), err
}

func (h *httpBackend) peek(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	var out httpReceived
	path := groupPath(queue, o.group) + "/peek?max=" + strconv.Itoa(o.max)
	err := h.call(ctx, http.MethodGet, path, nil, &out)
	return out.messages(queue, o.group), err
}
