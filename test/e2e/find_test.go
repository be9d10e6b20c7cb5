package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/weirmq/weir/internal/pgtest"
)

// find types into the field of a queue's page that finds messages.
func (b *browser) find(text string) {
	b.Helper()
	b.Do(chromedp.WaitVisible("#search", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector("#search").select()`, nil),
		chromedp.SendKeys("#search", text+kb.Enter, chromedp.ByQuery))
}

// line waits until the line of a group in a message's page says something.
func (b *browser) line(group, text string) {
	b.Helper()
	b.Wait(`document.querySelector('main tr[data-key="`+group+`"]')?.innerText.includes(%s)`, text)
}

// places makes a queue whose five messages are in another state each, for default, and wait for audit. It returns
// their ids.
func (b *browser) places() []string {
	b.Helper()
	for _, sql := range []string{
		"select weir.create_queue('orders')",
		"select weir.create_group('orders', 'audit')",
		"select weir.create_group('orders', 'per-table', ordered => true)",
		"select set_config('application_name', 'kitchen-1', false)",
	} {
		b.db.Exec(b, sql)
	}
	var ids []string
	for _, steps := range [][]string{
		{
			"1', key => 'table-1'",
			"select weir.ack_all('orders', claim_id) from weir.receive('orders')",
			"select weir.nack('orders', claim_id, array[id], '1 hour', 'no table 1') from weir.receive('orders', 'per-table')",
		},
		{
			"2', key => 'table-2'",
			"select weir.reject('orders', claim_id, array[id], 'no such dish') from weir.receive('orders')",
		},
		{
			"3', key => 'table-3'",
			"select weir.nack('orders', claim_id, array[id], '1 hour', 'the oven is cold') from weir.receive('orders')",
		},
		{"4', key => 'table-4'", "select weir.receive('orders', lease => '1 hour')"},
		{"5', key => 'table-1', delay => '2 hours'"},
	} {
		ids = append(ids, pgtest.QueryVal[string](b.T, b.db, "select weir.send('orders', '"+steps[0]+")::text"))
		for _, sql := range steps[1:] {
			b.db.Exec(b, sql)
		}
	}
	return ids
}

func TestAMessageIsFoundInAnyStateWithWhatEachGroupDid(t *testing.T) {
	b := open(t)
	ids := b.places()
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.find(ids[0])
	b.line("default", "done")
	b.line("audit", "waiting")
	b.line("per-table", "parked")
	b.line("per-table", "no table 1")
	b.find(ids[1])
	b.line("default", "dead")
	b.line("default", "no such dish")
	b.Picture("message")
	b.find(ids[2])
	b.line("default", "It is tried again in")
	b.line("default", "the oven is cold")
	b.find(ids[3])
	b.line("default", "kitchen-1 as ")
	b.db.Exec(t, "select weir.pause('orders', 'audit')")
	b.again()
	b.line("audit", "The group is paused.")
	b.line("per-table", "waiting")
	b.db.Exec(t, "select weir.send('orders', '6', key => 'table-1')")
	b.db.Exec(t, "select weir.receive('orders', 'per-table', 10)")
	b.find(pgtest.QueryVal[string](t, b.db, "select max(id)::text from weir.peek('orders', 'audit', 10)"))
	b.line("per-table", "It stands behind message "+ids[0]+" of its key.")
	b.find(ids[4])
	b.line("default", "Its sender delayed it: it is due in")
	b.find("99")
	b.see("orders does not hold message 99")
	b.see("All groups have finished it and its space was given back, or it was never sent.")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders/messages/" + ids[1]))
	b.Press("main", "Redrive")
	b.line("default", "2 messages of the group wait.")
}

func TestMessagesAreFoundByTheirKeyInAnyState(t *testing.T) {
	b := open(t)
	b.places()
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.find("table-1")
	b.see("default: done")
	b.see("default: delayed")
	b.see("1 message of it is parked in per-table.")
	b.Picture("find")
	b.find("table-2")
	b.see("default: dead")
	b.find("table-3")
	b.see("default: delayed")
	b.find("table-4")
	b.see("default: claimed")
	b.find("table-9")
	b.see("No message with the key table-9 was found.")
	b.db.Exec(t, "select weir.send('orders', '6', key => '42')")
	b.find("42")
	b.see("orders does not hold message 42")
	b.Do(chromedp.Click(`a[href$="/find/42"]`, chromedp.ByQuery))
	b.see("default: waiting")
}
