package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cloudEvent is an event of CloudEvents 1.0: its attributes by name, and its data.
//
// As a message its data are the payload and its attributes the headers, named as HTTP's binary mode names them: ce-id,
// ce-source, ce-type ..., content-type. Data that are neither JSON nor text are a string of base64, and
// content-transfer-encoding says so. The extension partitionkey is the message's key. Source and id, which no
// two events share, are its dedup key: an event that is sent again is not delivered again.
type cloudEvent struct {
	attributes map[string]json.RawMessage
	data       json.RawMessage
	base64     bool
}

const eventHint = "https://github.com/cloudevents/spec says what an event has."

// structuredEvent reads one event in one JSON object.
func structuredEvent(_ http.Header, body []byte) ([]byte, error) {
	return eventList("body", []json.RawMessage{body})
}

// eventBatch reads a JSON array of events.
func eventBatch(_ http.Header, body []byte) ([]byte, error) {
	var events []json.RawMessage
	if err := decodeStrict(body, &events); err != nil {
		return nil, invalid("body", err.Error(), "A batch is a JSON array of events.")
	}
	return eventList("body[%d]", events)
}

// eventList makes messages of events in the JSON format; the location may have room for their numbers.
func eventList(location string, events []json.RawMessage) ([]byte, error) {
	list := messageList{}
	for i, text := range events {
		at := strings.Replace(location, "%d", strconv.Itoa(i), 1)
		event, err := parseEvent(text)
		if err != nil {
			return nil, invalid(at, err.Error(), eventHint)
		}
		message, err := event.message()
		if err != nil {
			return nil, invalid(at, err.Error(), eventHint)
		}
		list.add(message)
	}
	return list.body(), nil
}

// parseEvent reads the JSON format of an event.
func parseEvent(text []byte) (*cloudEvent, error) {
	e := &cloudEvent{}
	if err := decodeStrict(text, &e.attributes); err != nil {
		return nil, err
	}
	data, plain := e.attributes["data"]
	encoded, binary := e.attributes["data_base64"]
	delete(e.attributes, "data")
	delete(e.attributes, "data_base64")
	switch {
	case plain && binary:
		return nil, fmt.Errorf("it has data and data_base64")
	case binary:
		var octets []byte
		if err := json.Unmarshal(encoded, &octets); err != nil {
			return nil, fmt.Errorf("data_base64 is not a string of base64")
		}
		e.data, e.base64 = encoded, true
	default:
		e.data = data
	}
	return e, nil
}

// binaryEvent reads an event whose attributes are HTTP headers and whose data are the body.
func binaryEvent(header http.Header, body []byte) ([]byte, error) {
	e := &cloudEvent{attributes: map[string]json.RawMessage{}}
	for name, values := range header {
		attribute, ok := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ok {
			continue
		}
		value, err := url.PathUnescape(values[0])
		if err != nil || !utf8.ValidString(value) {
			return nil, invalid(name, "it is not percent-encoded UTF-8", eventHint)
		}
		e.attributes[attribute] = quoted(value)
	}
	if err := e.setData(header.Get("Content-Type"), body); err != nil {
		return nil, invalid("body", err.Error(), "Say in Content-Type what the data are.")
	}
	message, err := e.message()
	if err != nil {
		return nil, invalid("header", err.Error(), eventHint)
	}
	list := messageList{}
	list.add(message)
	return list.body(), nil
}

// setData takes a body as the event's data: JSON as it is, text as a string, all else in base64.
func (e *cloudEvent) setData(contentType string, body []byte) error {
	kind, _, err := mime.ParseMediaType(contentType)
	if contentType != "" && kind != typeForm {
		e.attributes["datacontenttype"] = quoted(contentType)
	}
	switch {
	case len(body) == 0:
	case contentType == "" || kind == typeForm || kind == typeJSON || err == nil && strings.HasSuffix(kind, "+json"):
		e.data = body
		return decodeStrict(body, new(json.RawMessage))
	case strings.HasPrefix(kind, "text/") && utf8.Valid(body):
		e.data = quoted(string(body))
	default:
		e.data, e.base64 = quoted(base64.StdEncoding.EncodeToString(body)), true
	}
	return nil
}

// message checks the event and writes it as a message of a SendBody.
func (e *cloudEvent) message() ([]byte, error) {
	for _, name := range []string{"id", "source", "type", "specversion"} {
		if text, err := e.text(name); err != nil {
			return nil, err
		} else if text == "" {
			return nil, fmt.Errorf("the attribute %s is missing or empty", name)
		}
	}
	if version, _ := e.text("specversion"); version != "1.0" {
		return nil, fmt.Errorf("specversion is %q, and only 1.0 is known", version)
	}
	key, err := e.text("partitionkey")
	if err != nil {
		return nil, err
	}
	headers, err := e.headers()
	if err != nil {
		return nil, err
	}
	source, _ := e.text("source")
	id, _ := e.text("id")
	dedupKey := source + " " + id
	m := outgoing{Payload: e.data, Headers: headers, DedupKey: &dedupKey}
	if m.Payload == nil {
		m.Payload = json.RawMessage("null")
	}
	if key != "" {
		m.Key = &key
	}
	return json.Marshal(m) //nolint:wrapcheck // its parts are JSON
}

// text reads an attribute that is a string; it is empty when there is none.
func (e *cloudEvent) text(name string) (string, error) {
	raw, there := e.attributes[name]
	if !there {
		return "", nil
	}
	var text *string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("the attribute %s is not a string", name)
	}
	if text == nil {
		return "", nil
	}
	return *text, nil
}

// headers writes the attributes as headers of a message.
func (e *cloudEvent) headers() (json.RawMessage, error) {
	headers := map[string]json.RawMessage{}
	for name, value := range e.attributes {
		switch first := value[0]; {
		case !attributeName(name):
			return nil, fmt.Errorf("%q is not the name of an attribute, which has only a-z and 0-9", name)
		case first == '{' || first == '[':
			return nil, fmt.Errorf("the attribute %s is neither a string nor a number nor a truth value", name)
		case string(value) == "null":
		case name == "datacontenttype":
			headers["content-type"] = value
		default:
			headers["ce-"+name] = value
		}
	}
	if e.base64 {
		headers["content-transfer-encoding"] = quoted("base64")
	}
	return json.Marshal(headers) //nolint:wrapcheck // its parts are JSON
}

// attributeName reports whether CloudEvents allows a name.
func attributeName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// quoted is a text as a JSON string.
func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a string is always JSON
	return raw
}
