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
	at := strings.TrimSuffix(h.URL, "/") + "/v1/stats"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	if queue != "" {
		r.URL.RawQuery = url.Values{"queue": {queue}}.Encode()
	}
	if h.Token != "" {
		r.Header.Set("Authorization", "Bearer "+h.Token)
	}
	response, err := h.Client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	defer response.Body.Close()
	var body struct {
		Groups []engine.GroupStats `json:"groups"`
		Detail string              `json:"detail"`
		Hint   string              `json:"hint"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, answerMax)).Decode(&body); err != nil {
		return nil, fmt.Errorf("%w: %s answered %s with something else than JSON", ErrServer, at, response.Status)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %s: %s. %s", ErrServer, response.Status, body.Detail, body.Hint)
	}
	return body.Groups, nil
}
