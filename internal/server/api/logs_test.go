package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

func TestALogIsMadeConfiguredListedAndDroppedOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	const own = "/v1/logs/own"
	s.want(http.StatusCreated, "PUT", own, `{"unlogged":true,"retention_ms":1000}`)
	s.want(http.StatusOK, "PUT", own, `{"unlogged":true,"retention_ms":1000}`)
	s.want(http.StatusOK, "PATCH", own, `{"segment_bytes":131072}`)
	s.want(http.StatusCreated, "PUT", "/v1/queues/mine", `{"log":"own","ordered":true}`)
	logs := decode[struct{ Logs []engine.Log }](s, s.want(http.StatusOK, "GET", "/v1/logs", "")).Logs
	if len(logs) != 2 || logs[1].Name != "own" || !logs[1].Unlogged || logs[1].SegmentBytes != 131072 ||
		time.Duration(logs[1].Retention) != time.Second || logs[1].Queues != 1 {
		t.Errorf("logs %+v", logs)
	}
	s.want(http.StatusBadRequest, "DELETE", own, "")
	s.want(http.StatusNoContent, "DELETE", "/v1/queues/mine", "")
	s.want(http.StatusNoContent, "DELETE", own, "")
}
