package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestNumbersGoThroughThePageAsTheyAreWritten(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Press("main", "Send a message")
	b.fill("field-payload", `{"id": 9007199254740993, "price": 1.10}`)
	b.Press("dialog", "Send")
	b.toldSent("orders", 1)
	const want = `{"id": 9007199254740993, "price": 1.10}`
	if got := pgtest.QueryVal[string](t, b.db, "select payload::text from weir.peek('orders')"); got != want {
		t.Errorf("the payload is %s, want %s", got, want)
	}
	b.see(`{"id":9007199254740993,"price":1.10}`)
	b.Do(chromedp.Click("td.body button", chromedp.ByQuery))
	b.see("{\n  \"id\": 9007199254740993,\n  \"price\": 1.10\n}")
	b.Press("dialog", "Close")
	b.db.Exec(t, "select weir.nack('orders', claim_id, array[id], '1 hour') from weir.receive('orders')")
	b.Press("main", "Delayed, retries")
	b.see(`{"id":9007199254740993,"price":1.10}`)
	id := pgtest.QueryVal[string](t, b.db,
		`select weir.send('orders', '1.10', headers => '{"trace": 12345678901234567890.10}')::text`)
	b.db.Exec(t, "select weir.reject('orders', claim_id, array[id], 'no') from weir.receive('orders')")
	b.Press("main", "Dead letters")
	b.see("1.10")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders/messages/" + id))
	b.see(`"trace": 12345678901234567890.10`)
}

func TestCharactersThatCannotBeSeenAreMarked(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	id := pgtest.QueryVal[string](t, b.db,
		"select weir.send('orders', to_jsonb(E'pay \\u202e001 to bob'::text), key => E'a\\u200bb')::text")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.see(`"pay \u202e001 to bob"`)
	b.see(`a\u200bb`)
	b.db.Exec(t, "select weir.reject('orders', claim_id, array[id], E'no\\u2066pe') from weir.receive('orders')")
	b.Press("main", "Dead letters")
	b.see(`no\u2066pe`)
	b.Do(chromedp.Click("td.body button", chromedp.ByQuery), chromedp.WaitVisible("dialog mark", chromedp.ByQuery))
	b.Picture("marks")
	var raw string
	b.Do(chromedp.Evaluate("document.documentElement.outerHTML", &raw))
	if strings.ContainsAny(raw, "\u202e\u200b\u2066") {
		t.Error("the page holds a character that cannot be seen")
	}
	b.Press("dialog", "Close")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders/messages/" + id))
	b.see(`no\u2066pe`)
}
