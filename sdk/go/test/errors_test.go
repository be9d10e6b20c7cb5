package test

import (
	"errors"
	"strings"
	"testing"

	weir "github.com/weirmq/weir/sdk/go"
)

func TestTheTextOfAnErrorHasTheSQLSTATEWhatWasAskedForAndTheCure(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	_, notThere := c.Send(t.Context(), "nowhere", 1)
	_, down := weir.Connect(t.Context(), "postgres://ann:secret@127.0.0.1:1/shop")
	remote := get(weir.NewHTTP("http://127.0.0.1:1", nil))(t)
	_, remoteDown := remote.Stats(t.Context(), "q")
	_, wrong := c.NextTimes(t.Context(), "61 * * * *", "", 1)
	_, wrongDay := c.NextTimes(t.Context(), "* * * * NEVER", "", 1)
	for _, want := range []struct {
		err  error
		code string
		says []string
	}{
		{notThere, "WR001", []string{"nowhere", "select weir.create_queue('nowhere')"}},
		{down, "08001", []string{"127.0.0.1:1", "refused", "Is PostgreSQL running"}},
		{remoteDown, "08001", []string{"127.0.0.1:1", "refused", "Is `weir serve` running"}},
		{wrong, "WR052", []string{"'61' is not a minute", "Give 0 to 59; as value"}},
		{wrongDay, "WR052", []string{"'NEVER' is not a day of the week", "Give 0 to 6, or SUN to SAT; as value"}},
	} {
		var e *weir.Error
		if !errors.As(want.err, &e) || e.Code != want.code {
			t.Errorf("%v is no %s", want.err, want.code)
			continue
		}
		for _, part := range append(want.says, "SQLSTATE "+want.code) {
			if !strings.Contains(want.err.Error(), part) {
				t.Errorf("%q does not say %q", want.err, part)
			}
		}
		if strings.Contains(want.err.Error(), "secret") {
			t.Errorf("%q tells the password", want.err)
		}
	}
}
