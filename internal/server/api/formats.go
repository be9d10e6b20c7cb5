package api

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// Media types of a request's body.
const (
	typeJSON        = "application/json"
	typeNDJSON      = "application/x-ndjson"
	typeEvent       = "application/cloudevents+json"
	typeEventBatch  = "application/cloudevents-batch+json"
	typeForm        = "application/x-www-form-urlencoded" // what curl says when it is told nothing
	typeOctets      = "application/octet-stream"
	messagesSegment = "/messages"
)

// format makes of a body what the routes read: the JSON of a SendBody.
type format func(header http.Header, body []byte) ([]byte, error)

// asSent is the format of a body that is JSON already.
func asSent(_ http.Header, body []byte) ([]byte, error) { return body, nil }

// formatOf tells how to read a request's body; it is nil when the body is of a type that no route reads. Messages may
// be sent as NDJSON and as CloudEvents, and one as bytes; all else is JSON. Browsers cannot use what curl says from
// another site, which the server's cross-origin check sees to.
func formatOf(r *http.Request) format {
	given := r.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(given)
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/queues/") &&
		strings.HasSuffix(r.URL.Path, messagesSegment) {
		switch {
		case r.Header.Get("Ce-Specversion") != "":
			return binaryEvent
		case kind == typeNDJSON:
			return ndjson
		case kind == typeEvent:
			return structuredEvent
		case kind == typeEventBatch:
			return eventBatch
		case kind == typeOctets:
			return octets
		}
	}
	if given == "" || kind == typeForm || kind == typeJSON || err == nil && strings.HasSuffix(kind, "+json") {
		return asSent
	}
	return nil
}

// ndjson reads one message a line, each as in the list of a SendBody.
func ndjson(_ http.Header, body []byte) ([]byte, error) {
	list := messageList{}
	number := 0
	for line := range bytes.Lines(body) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var m outgoing
		if err := decodeStrict(line, &m); err != nil {
			return nil, invalid(fmt.Sprintf("line %d", number), err.Error(), `A line is {"payload":...,"key"?:"..."}.`)
		}
		list.add(line)
	}
	return list.body(), nil
}

// octets takes the body as one message's, byte by byte.
func octets(_ http.Header, body []byte) ([]byte, error) {
	list := messageList{}
	list.add(fmt.Appendf(nil, `{"body":"%s"}`, base64.StdEncoding.EncodeToString(body)))
	return list.body(), nil
}

// messageList writes a SendBody of messages that are JSON texts.
type messageList struct {
	text bytes.Buffer
}

func (l *messageList) add(message []byte) {
	if l.text.Len() > 0 {
		l.text.WriteByte(',')
	}
	l.text.Write(message)
}

func (l *messageList) body() []byte {
	return fmt.Appendf(nil, `{"messages":[%s]}`, l.text.Bytes())
}
