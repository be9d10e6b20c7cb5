package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/weirmq/weir/internal/jsontext"
)

// decodeStrict reads one JSON value and nothing else; a field that no route knows is more likely a typing error than
// a wish to have it ignored, and so is null where something has to be.
func decodeStrict(data []byte, into any) error {
	if err := jsontext.Check(data); err != nil {
		return err //nolint:wrapcheck // it says what is wrong
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return jsonReason(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("there is something after the JSON value, at byte %d", d.InputOffset())
	}
	if bytes.Contains(data, null) {
		return refuseNull(data, reflect.TypeOf(into), "")
	}
	return nil
}

// null is JSON's.
var null = []byte("null")

// refuseNull finds null where a value has to be: at the top, in a list, and in a field that may not be left out. To the
// decoder it is no value, and so it would count as a zero that nobody sent.
func refuseNull(text []byte, kind reflect.Type, at string) error {
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if reflect.PointerTo(kind).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil // it reads null itself
	}
	if bytes.Equal(bytes.TrimSpace(text), null) {
		return errors.New(strings.TrimPrefix(at+": ", ": ") + "it is null")
	}
	switch kind.Kind() { //nolint:exhaustive // the others have no parts, or parts of any kind
	case reflect.Struct:
		return refuseNullFields(text, kind, at)
	case reflect.Slice:
		var items []json.RawMessage
		if err := json.Unmarshal(text, &items); err != nil {
			return jsonReason(err)
		}
		for i, item := range items {
			if err := refuseNull(item, kind.Elem(), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseNullFields is refuseNull for the fields of an object. One that may be left out may be null.
func refuseNullFields(text []byte, kind reflect.Type, at string) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return jsonReason(err)
	}
	for _, field := range reflect.VisibleFields(kind) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		for as, value := range given {
			if name == "" || !strings.EqualFold(as, name) { // as the decoder takes it
				continue
			}
			free := options == "omitempty" || field.Type.Kind() == reflect.Pointer || field.Type.Kind() == reflect.Slice
			if free && bytes.Equal(value, null) {
				continue
			}
			if err := refuseNull(value, field.Type, strings.TrimPrefix(at+"."+name, ".")); err != nil {
				return err
			}
		}
	}
	return nil
}

// jsonReason says in plain words what is wrong with a JSON text.
func jsonReason(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %s, at byte %d", syntax.Error(), syntax.Offset)
	case errors.As(err, &kind):
		reason := fmt.Sprintf("a JSON %s cannot be read as %s", kind.Value, kind.Type)
		return errors.New(strings.TrimPrefix(kind.Field+": "+reason, ": "))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("not JSON: it ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
