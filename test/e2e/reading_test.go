package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/internal/pgtest"
)

const traceback = `Traceback (most recent call last):
  File "/srv/kitchen/worker.py", line 218, in handle_a_message_of_the_kitchen
    oven.bake(dish, temperature=temperature, minutes=minutes, rack=rack, steam=steam, convection=convection)
  File "/srv/kitchen/oven.py", line 77, in bake
    raise OvenError(f"the oven is cold: {self.temperature} of {temperature} degrees")
OvenError: the oven is cold: 20 of 220 degrees`

// asked waits until the page has asked for something so often since the page was opened.
func (b *browser) asked(path string, times int) {
	b.Helper()
	b.Wait(fmt.Sprintf(`performance.getEntriesByType("resource").filter((e) => e.name.includes(%%s)).length >= %d`, times),
		path)
}

// askedSoFar counts that.
func (b *browser) askedSoFar(path string) (times int) {
	b.Helper()
	b.Do(chromedp.Evaluate(fmt.Sprintf(
		`performance.getEntriesByType("resource").filter((e) => e.name.includes(%q)).length`, path), &times))
	return times
}

// number evaluates an expression in the page.
func (b *browser) number(expression string) (n float64) {
	b.Helper()
	b.Do(chromedp.Evaluate(expression, &n))
	return n
}

func TestAReasonOfManyLinesIsShortInAListAndWholeWhenItIsOpened(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.db.Exec(t, "select weir.send_batch('orders', array['1', '2']::jsonb[])")
	b.db.Exec(t, `select weir.nack('orders', claim_id, array[id], '1 hour', $1) from weir.receive('orders', max => 1)`,
		traceback)
	b.db.Exec(t, `select weir.reject('orders', claim_id, array[id], $1) from weir.receive('orders', max => 1)`, traceback)
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	for _, tab := range []string{"Dead letters", "Delayed, retries"} {
		b.Press("main", tab)
		b.see("OvenError: the oven is cold")
		if wide := b.number(`document.querySelector("td.reason").closest(".scroll").scrollWidth`); wide > 1200 {
			t.Errorf("the table of %q is %v pixels wide", tab, wide)
		}
		b.Do(chromedp.Click("td.reason button", chromedp.ByQuery))
		b.see("in handle_a_message_of_the_kitchen")
		b.Picture("reason")
		b.Press("dialog", "Close")
	}
}

func TestALongNameHidesNoNumberOnAPhone(t *testing.T) {
	b := open(t)
	name := strings.Repeat("a.long-name_", 4)[:47]
	b.db.Exec(t, "select weir.create_queue($1)", name)
	b.db.Exec(t, "select weir.create_group($1, $1)", name)
	b.db.Exec(t, "select weir.send($1, '1', key => repeat('key', 40)) from generate_series(1, 1234)", name)
	b.Do(chromedp.EmulateViewport(390, 800))
	for picture, page := range map[string]string{"long-names": "/#/", "long-name": "/#/queues/" + name} {
		b.Do(chromedp.Navigate(b.url + page))
		b.see("1,234")
		b.Picture(picture)
		right := b.number(`Math.max(...[...document.querySelectorAll("td.n")].filter((e) => e.innerText.includes("1,234"))
			.map((e) => e.getBoundingClientRect().right))`)
		if right > 390 {
			t.Errorf("on %s the number waiting ends at %v of 390 pixels", page, right)
		}
		if wide := b.number("document.documentElement.scrollWidth"); wide > 390 {
			t.Errorf("%s is %v pixels wide", page, wide)
		}
	}
}

func TestARefreshKeepsSelectionScrollingAndFocus(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.db.Exec(t, `select weir.send('orders', jsonb_build_object('dish', repeat('soup ', 40)), key => 'table ' || i)
		from generate_series(1, 3) i`)
	b.Do(chromedp.EmulateViewport(390, 800), chromedp.Navigate(b.url+"/#/queues/orders"))
	b.see("table 2")
	b.Do(chromedp.Evaluate(`(() => {
		const cell = [...document.querySelectorAll("section td")].find((e) => e.innerText === "table 2");
		getSelection().selectAllChildren(cell);
		document.querySelectorAll(".scroll").forEach((e) => { e.scrollLeft = 40; });
		document.querySelector('[data-key="Claimed"]').focus();
		window.kept = cell;
	})()`, nil))
	b.db.Exec(t, "select weir.pop('orders', max => 1), weir.send('orders', '4', key => 'table 4')")
	b.see("table 4")
	b.asked("/peek", b.askedSoFar("/peek")+2)
	var selected, focused string
	b.Do(chromedp.Evaluate("String(getSelection())", &selected),
		chromedp.Evaluate("document.activeElement.dataset.key", &focused))
	if strings.TrimSpace(selected) != "table 2" || focused != "Claimed" {
		t.Errorf("selected is %q, the focus is on %q", selected, focused)
	}
	if left := b.number(`Math.min(...[...document.querySelectorAll(".scroll")].map((e) => e.scrollLeft))`); left != 40 {
		t.Errorf("the tables are scrolled by %v, want 40", left)
	}
	b.Wait("kept.isConnected && %s", "the line is still there")
}

func TestListsFollowTheNumbersAboveThem(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.see("Nothing waits for default.")
	b.db.Exec(t, `select weir.send('orders', '{"dish": "cake"}')`)
	b.see(`{"dish":"cake"}`)
	b.Press("main", "Dead letters")
	b.see("default has no dead letters.")
	b.db.Exec(t, "select weir.reject('orders', claim_id, array[id], 'burnt') from weir.receive('orders')")
	b.see("burnt")
	b.choose(pgtest.QueryVal[string](t, b.db, "select id::text from weir.dead_letters('orders')"))
	b.asked("/dead_letters", b.askedSoFar("/dead_letters")+2)
	b.Press("main", "Redrive chosen (1)")
	b.see("default has no dead letters.")
}
