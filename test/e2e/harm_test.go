package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/internal/pgtest"
)

// pressNamed clicks the button with an accessible name.
func (b *browser) pressNamed(name string) {
	b.Helper()
	b.Wait(`(() => { const b = document.querySelector("button[aria-label=" + JSON.stringify(%s) + "]:not(:disabled)");
		if (b) b.click(); return Boolean(b); })()`, name)
}

// typed returns what a field of the open dialog holds.
func (b *browser) typed(field string) (text string) {
	b.Helper()
	b.Do(chromedp.Value("dialog #"+field, &text, chromedp.ByQuery))
	return text
}

// backlog makes the queue orders with a group that finished 12 messages of 20, and 3 dead letters besides.
func (b *browser) backlog() {
	b.Helper()
	for _, sql := range []string{
		"select weir.create_queue('orders'), weir.configure_log('main', retention => '1 day')",
		"select weir.send_batch('orders', array_fill('1'::jsonb, array[12]))",
		"select weir.pop('orders', max => 12)",
		"select weir.send_batch('orders', array['1', '2', '3']::jsonb[])",
		"select weir.reject('orders', claim_id, array[id], 'no') from weir.receive('orders', max => 3)",
		"select weir.send_batch('orders', array_fill('1'::jsonb, array[5]))",
	} {
		b.db.Exec(b, sql)
	}
}

func (b *browser) waiting() int64 {
	b.Helper()
	return pgtest.QueryVal[int64](b, b.db, "select waiting from weir.stats('orders') where group_name = 'default'")
}

func TestASeekSaysWhatItDoesBeforeItCanBeDone(t *testing.T) {
	b := open(t)
	b.backlog()
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.pressNamed("Seek group default")
	if text := b.typed("field-position"); text != "" {
		t.Errorf("the position is %q before anybody typed one", text)
	}
	var disabled bool
	b.Do(chromedp.Evaluate(`document.querySelector("dialog button.danger").disabled`, &disabled))
	if !disabled {
		t.Error("it can be done before it was shown")
	}
	b.fill("field-position", "end")
	b.Press("dialog", "Show what it does")
	b.see("Skips 5")
	if n := b.waiting(); n != 5 {
		t.Errorf("%d messages wait after a look, want 5", n)
	}
	b.fill("field-position", "start")
	b.Do(chromedp.Evaluate(`document.querySelector("dialog button.danger").disabled`, &disabled))
	if !disabled {
		t.Error("what was typed anew can be done before it was shown")
	}
	b.Press("dialog", "Show what it does")
	b.see("Redelivers 15")
	b.Picture("seek")
	b.Press("dialog", "Redeliver 15")
	b.told("default goes on at start.")
	if n := b.waiting(); n != 20 {
		t.Errorf("%d messages wait, want 20", n)
	}
}

func TestWhatTakesSomethingAwaySaysHowMuch(t *testing.T) {
	b := open(t)
	b.backlog()
	b.db.Exec(t, "select weir.create_group('orders', 'audit')")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	for name, text := range map[string]string{
		"Purge queue orders":  "Drops 25 messages", // audit begins at the start: it has all 20
		"Purge group default": "Drops 5 messages",
		"Drop queue orders":   "25 unfinished messages and 3 dead letters",
		"Drop group default":  "5 unfinished messages and 3 dead letters",
	} {
		b.pressNamed(name)
		b.see(text)
		b.Press("dialog", "Cancel")
	}
	b.Press("main", "Dead letters")
	b.Press("main", "Discard all")
	b.see("Removes 3 dead letters")
	b.Press("dialog", "Cancel")
	b.Press("main", "Redrive all")
	b.see("Redelivers 3 dead letters")
	if n := pgtest.QueryVal[int64](t, b.db, "select sum(dead)::bigint from weir.stats('orders')"); n != 3 {
		t.Errorf("%d dead letters are left before it was confirmed, want 3", n)
	}
	b.Press("dialog", "Redrive")
	b.told("3 dead letters sent back.")
}

func TestADialogKeepsWhatWasTypedWhenItIsWrong(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Press("main", "Send a message")
	b.fill("field-payload", `{"dish": `)
	b.fill("field-key", "table-7")
	b.Press("dialog", "Send")
	b.see("The payload is not JSON")
	if payload, key := b.typed("field-payload"), b.typed("field-key"); payload != `{"dish": ` || key != "table-7" {
		t.Errorf("the dialog holds %q and %q", payload, key)
	}
	b.fill("field-payload", `{"dish": "soup"}`)
	b.Press("dialog", "Send")
	b.toldSent("orders", 1)
	b.pressNamed("Add group to orders")
	b.fill("field-name", "no name!")
	b.Press("dialog", "Add")
	b.Wait(`document.querySelector("#wrong").innerText.includes(%s)`, "no name!")
	if name := b.typed("field-name"); name != "no name!" {
		t.Errorf("the dialog holds %q", name)
	}
	b.Press("dialog", "Cancel")
	b.pressNamed("Seek group default")
	b.fill("field-position", "yesterdy")
	b.Press("dialog", "Show what it does")
	b.Wait(`document.querySelector("#wrong").innerText.includes(%s)`, "yesterdy")
	if position := b.typed("field-position"); position != "yesterdy" {
		t.Errorf("the dialog holds %q", position)
	}
	if key := pgtest.QueryVal[string](t, b.db, "select key from weir.peek('orders')"); !strings.HasPrefix(key, "table") {
		t.Errorf("the key is %q", key)
	}
}
