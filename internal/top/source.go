package top

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/weirmq/weir/internal/engine"
)

// Source tells how all groups stand. *engine.Client is one.
type Source interface {
	Stats(ctx context.Context, queue string) ([]engine.GroupStats, error)
	ListQueues(ctx context.Context) ([]engine.Queue, error)
}

// answerMax bounds what is read of an answer, in bytes.
const answerMax = 64 << 20

// HTTP is a Source that asks a server.
type HTTP struct {
	URL    string // such as http://127.0.0.1:9347
	Token  string // sent as a bearer token unless empty
	Client *http.Client
}

// Stats returns one row a group: of one queue, or of all when queue is empty.
func (h *HTTP) Stats(ctx context.Context, queue string) ([]engine.GroupStats, error) {
	path := "/v1/stats"
	if queue != "" {
		path += "?" + url.Values{"queue": {queue}}.Encode()
	}
	answer, err := h.ask(ctx, path)
	return answer.Groups, err
}

// ListQueues returns all queues.
func (h *HTTP) ListQueues(ctx context.Context) ([]engine.Queue, error) {
	answer, err := h.ask(ctx, "/v1/queues")
	return answer.Queues, err
}

// answer is what the server's answers have of use.
type answer struct {
	Groups []engine.GroupStats `json:"groups"`
	Queues []engine.Queue      `json:"queues"`
	Detail string              `json:"detail"`
	Hint   string              `json:"hint"`
}

// ask reads what is at a path.
func (h *HTTP) ask(ctx context.Context, path string) (body answer, err error) {
	at := strings.TrimSuffix(h.URL, "/") + path
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return body, fmt.Errorf("%w: %w", ErrServer, err)
	}
	if h.Token != "" {
		r.Header.Set("Authorization", "Bearer "+h.Token)
	}
	response, err := h.Client.Do(r)
	if err != nil {
		return body, fmt.Errorf("%w: %w", ErrServer, err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, answerMax)).Decode(&body); err != nil {
		return body, fmt.Errorf("%w: %s answered %s with something else than JSON", ErrServer, at, response.Status)
	}
	if response.StatusCode != http.StatusOK {
		return body, fmt.Errorf("%w: %s: %s. %s", ErrServer, response.Status, body.Detail, body.Hint)
	}
	return body, nil
}
