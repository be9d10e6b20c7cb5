package jobs_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// field is one field of an expression and the values that it stands for; nil when it is *.
type field struct {
	text   string
	values []int
}

// fieldOf draws a field: *, a value, a range, a step, or a list.
func fieldOf(low, high int, names []string) *rapid.Generator[field] {
	show := func(n int) string {
		if names != nil && n%2 == 0 {
			return names[n-low]
		}
		return strconv.Itoa(n)
	}
	part := rapid.Custom(func(t *rapid.T) field {
		a := rapid.IntRange(low, high).Draw(t, "a")
		b := rapid.IntRange(a, high).Draw(t, "b")
		step := rapid.IntRange(2, 9).Draw(t, "step")
		spread := func(text string, a, b, step int) field {
			f := field{text: text}
			for n := a; n <= b; n += step {
				f.values = append(f.values, n)
			}
			return f
		}
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			return spread(fmt.Sprintf("%s-%s", show(a), show(b)), a, b, 1)
		case 1:
			return spread(fmt.Sprintf("%d-%d/%d", a, b, step), a, b, step)
		case 2:
			return spread(fmt.Sprintf("*/%d", step), low, high, step)
		default:
			return spread(show(a), a, a, 1)
		}
	})
	return rapid.Custom(func(t *rapid.T) field {
		if rapid.Bool().Draw(t, "any") {
			return field{text: "*"}
		}
		list := rapid.SliceOfN(part, 1, 3).Draw(t, "parts")
		f := list[0]
		for _, p := range list[1:] {
			f.text += "," + p.text
			f.values = append(f.values, p.values...)
		}
		return f
	})
}

// expression is a cron expression.
type expression struct{ minute, hour, day, month, weekday field }

var (
	months   = strings.Fields("Jan feb MAR apr may jun jul aug sep oct nov DEC")
	weekdays = strings.Fields("sun mon TUE wed thu fri sat")
)

func expressions() *rapid.Generator[expression] {
	return rapid.Custom(func(t *rapid.T) expression {
		return expression{
			fieldOf(0, 59, nil).Draw(t, "minute"), fieldOf(0, 23, nil).Draw(t, "hour"), fieldOf(1, 31, nil).Draw(t, "day"),
			fieldOf(1, 12, months).Draw(t, "month"), fieldOf(0, 6, weekdays).Draw(t, "weekday"),
		}
	})
}

func (e expression) String() string {
	return strings.Join([]string{e.minute.text, e.hour.text, e.day.text, e.month.text, e.weekday.text}, " ")
}

func (f field) has(n int) bool { return f.values == nil || slices.Contains(f.values, n) }

// due says whether a clock on the wall that shows this time makes the expression due.
func (e expression) due(wall time.Time) bool {
	day, weekday := e.day.has(wall.Day()), e.weekday.has(int(wall.Weekday()))
	either := e.day.values != nil && e.weekday.values != nil && (day || weekday)
	return e.minute.has(wall.Minute()) && e.hour.has(wall.Hour()) && e.month.has(int(wall.Month())) &&
		(either || day && weekday)
}

func nextTimes(b bench, text, zone string, after time.Time, n int) []time.Time {
	b.Helper()
	var got []time.Time
	for _, at := range pgtest.QueryAll[time.Time](b, b.db,
		"select weir.next_times($1, $2, $3, $4)", text, zone, after, n) {
		got = append(got, at.UTC())
	}
	return got
}

func instant(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(946684800, 1767225600).Draw(t, "after"), 0).UTC() // 2000 to 2025
}

// TestDueTimesAreThoseOfAReference compares with robfig/cron, where clocks do not change or do not matter.
func TestDueTimesAreThoseOfAReference(t *testing.T) {
	each(t, "", func(b bench) {
		rapid.Check(b, func(t *rapid.T) {
			e := expressions().Draw(t, "expression")
			zones := []string{"UTC", "Asia/Kolkata", "Asia/Kathmandu"}
			if e.hour.values == nil {
				zones = append(zones, "Europe/Berlin", "America/New_York")
			}
			zone := rapid.SampledFrom(zones).Draw(t, "zone")
			after := instant(t)
			reference, err := cron.ParseStandard("CRON_TZ=" + zone + " " + e.String())
			if err != nil {
				t.Fatalf("reference: %v", err)
			}
			got := nextTimes(b, e.String(), zone, after, 3)
			at := after
			for i := range 3 {
				at = reference.Next(at).UTC()
				if at.IsZero() || at.Year() == 1 {
					break // it looks five years ahead
				}
				if i >= len(got) || !got[i].Equal(at) {
					t.Fatalf("%q in %s after %s: %v, the reference says %s", e, zone, after, got, at)
				}
			}
		})
	})
}

// about is how long before and after a change of clocks to look.
const about = 5 * time.Hour

// around returns what is due about a change of clocks, minute by minute.
func around(e expression, zone *time.Location, change time.Time) []time.Time {
	var list []time.Time
	from, to := change.Add(-about), change.Add(about)
	wallOf := func(at time.Time) time.Time { // as if it were UTC, so that it can be counted with
		w := at.In(zone)
		return time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), 0, 0, time.UTC)
	}
	shown := map[time.Time]bool{}
	for at := from.Add(-3 * time.Hour); at.Before(to); at = at.Add(time.Minute) {
		wall := wallOf(at)
		due := e.due(wall) && (e.hour.values == nil || !shown[wall])
		if e.hour.values != nil {
			before := wallOf(at.Add(-time.Minute))
			for skipped := before.Add(time.Minute); skipped.Before(wall); skipped = skipped.Add(time.Minute) {
				due = due || e.due(skipped)
			}
		}
		shown[wall] = true
		if due && at.After(from) {
			list = append(list, at)
		}
	}
	return list
}

// TestDueTimesWhereClocksChange compares with a walk through every minute.
func TestDueTimesWhereClocksChange(t *testing.T) {
	changes := []struct{ zone, at string }{
		{"Europe/Berlin", "2025-03-30T01:00:00Z"},
		{"Europe/Berlin", "2025-10-26T01:00:00Z"},
		{"America/New_York", "2025-03-09T07:00:00Z"},
		{"America/New_York", "2025-11-02T06:00:00Z"},
		{"Australia/Lord_Howe", "2024-10-05T15:30:00Z"}, // half an hour
		{"Australia/Lord_Howe", "2025-04-05T15:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04T03:00:00Z"}, // there is no midnight
		{"America/Sao_Paulo", "2018-02-18T02:00:00Z"}, // it is 23 o'clock twice
		{"America/Havana", "2024-03-10T05:00:00Z"},
		{"America/Havana", "2024-11-03T05:00:00Z"},
	}
	each(t, "", func(b bench) {
		few := fieldOf(0, 59, nil).Filter(func(f field) bool { return len(f.values) > 0 && len(f.values) < 8 })
		for _, change := range changes {
			zone, err := time.LoadLocation(change.zone)
			if err != nil {
				b.Fatal(err)
			}
			at, _ := time.Parse(time.RFC3339, change.at)
			day := at.In(zone).Day()
			days := rapid.SampledFrom([]field{{text: "*"}, {text: strconv.Itoa(day), values: []int{day}}})
			for i := range 12 {
				e := rapid.Custom(func(t *rapid.T) expression {
					return expression{
						few.Draw(t, "minute"), fieldOf(0, 23, nil).Draw(t, "hour"), days.Draw(t, "day"),
						field{text: "*"},
						field{text: "*"},
					}
				}).Example(i)
				want := around(e, zone, at)
				got := nextTimes(b, e.String(), change.zone, at.Add(-about), len(want)+1)
				for len(got) > 0 && !got[len(got)-1].Before(at.Add(about)) {
					got = got[:len(got)-1]
				}
				if !slices.EqualFunc(got, want, time.Time.Equal) {
					b.Fatalf("%q in %s about %s: %v, want %v", e, change.zone, change.at, got, want)
				}
			}
		}
	})
}

func TestExpressionsMeanWhatTheManualSays(t *testing.T) {
	each(t, "", func(b bench) {
		for _, c := range []struct{ text, zone, after, want string }{
			{"0 0 29 2 *", "UTC", "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"},
			{"0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
			{"0 0 13 * FRI", "UTC", "2025-06-12T12:00:00Z", "2025-06-13T00:00:00Z"}, // either
			{"0 0 13 * FRI", "UTC", "2025-06-13T12:00:00Z", "2025-06-20T00:00:00Z"},
			{"0 0 ? * 7", "UTC", "2025-06-13T12:00:00Z", "2025-06-15T00:00:00Z"},
			{"0 0 * * 5-7", "UTC", "2025-06-14T12:00:00Z", "2025-06-15T00:00:00Z"},
			{"59 23 31 12 *", "UTC", "2025-12-31T23:59:00Z", "2026-12-31T23:59:00Z"},
			{"\t@Daily ", "Asia/Tokyo", "2025-01-01T00:00:00Z", "2025-01-01T15:00:00Z"},
			{"@yearly", "UTC", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
			{"10/20 * * * *", "UTC", "2025-01-01T00:11:00Z", "2025-01-01T00:30:00Z"},
			{"30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z", "2025-03-30T01:00:00Z"}, // leapt over
			{"30 2 * * *", "Europe/Berlin", "2025-10-26T00:30:00Z", "2025-10-27T01:30:00Z"}, // once
			{"30 * * * *", "Europe/Berlin", "2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z"}, // at its pace
			{"0 0 * * *", "Pacific/Apia", "2011-12-29T11:00:00Z", "2011-12-30T10:00:00Z"},   // no 30th of December
			{"0 0 30 2 *", "UTC", "2025-01-01T00:00:00Z", ""},
		} {
			after, _ := time.Parse(time.RFC3339, c.after)
			got := ""
			if list := nextTimes(b, c.text, c.zone, after, 1); len(list) > 0 {
				got = list[0].Format(time.RFC3339)
			}
			if got != c.want {
				b.Errorf("%q in %s after %s: %s, want %s", c.text, c.zone, c.after, got, c.want)
			}
		}
	})
}

func TestDueTimesAreLookedForInAHundredYearsAndInYearsOfFourDigits(t *testing.T) {
	each(t, "", func(b bench) {
		at := func(text string) time.Time {
			t, err := time.Parse(time.RFC3339, text)
			if err != nil {
				b.Fatal(err)
			}
			return t
		}
		if got := nextTimes(b, "0 0 29 2 *", "UTC", at("2001-01-01T00:00:00Z"), 1000); len(got) != 24 {
			b.Errorf("the 29th of February is due %d times from 2001 to 2100: %v", len(got), got)
		}
		got := nextTimes(b, "@yearly", "Pacific/Kiritimati", at("9990-06-01T00:00:00Z"), 1000)
		if len(got) != 9 || got[8] != at("9998-12-31T10:00:00Z") {
			b.Errorf("until the year 10000: %v", got)
		}
		if got := nextTimes(b, "30 0 29 2 *", "UTC", at("2001-01-01T00:00:00Z"), 3); len(got) != 3 {
			b.Errorf("three times: %v", got)
		}
	})
}

func TestWhatIsNoExpressionIsRefused(t *testing.T) {
	each(t, "", func(b bench) {
		for _, text := range []string{
			"", "*", "* * * *", "* * * * * *", "60 * * * *", "-1 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *",
			"* * * 0 *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "*/ * * * *", "1, * * * *", ", * * * *",
			"*-5 * * * *", "1.5 * * * *", "a * * * *", "* * * FOO *", "* * * * MONDAY", "MON * * * *", "@never",
			"99999999999 * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "* * * JAN-13 *", "* * L * *",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.next_times($1)", text)
			if got := surface.SQLState(err); got != "WR052" {
				b.Errorf("%q: %v, want WR052", text, err)
			}
		}
		for call, state := range map[string]string{
			"next_times(null)":                                                    "WR052",
			"next_times('* * * * *', 'Nowhere/Here')":                             "WR052",
			"next_times('* * * * *', null)":                                       "WR006",
			"next_times('* * * * *', after => 'infinity')":                        "WR006",
			"next_times('* * * * *', n => 1001)":                                  "WR006",
			"next_times('* * * * *', after => '0044-03-15 BC')":                   "WR006",
			"next_times('* * * * *', after => '10000-01-01 UTC')":                 "WR006",
			"schedule('s', 'jobs', 'k')":                                          "WR052",
			"schedule('s', 'jobs', 'k', cron => '0 0 30 2 *')":                    "WR052",
			"schedule('s', 'jobs', 'k', cron => '* * * * *', every => '1 m')":     "WR052",
			"schedule('s', 'jobs', 'k', every => '0')":                            "WR052",
			"schedule('s', 'jobs', 'k', cron => '* * * * *', missed => 'all of')": "WR052",
			"schedule('s', 'jobs', 'k', cron => '* * * * *', time_zone => 'X/Y')": "WR052",
			"schedule('s', 'none', 'k', cron => '* * * * *')":                     "WR001",
			"schedule('S', 'jobs', 'k', cron => '* * * * *')":                     "WR005",
			"schedule(null, 'jobs', 'k', cron => '* * * * *')":                    "WR005",
			"schedule('s', 'jobs', '', cron => '* * * * *')":                      "WR050",
			"schedule('s', 'jobs', 'k', null, cron => '* * * * *')":               "WR007",
			"schedule('s', 'jobs', 'k', cron => '* * * * *', priority => 3)":      "WR006",
			"pause_schedule('none')":                                              "WR053",
			"resume_schedule(null)":                                               "WR053",
			"list_schedules('none')":                                              "WR001",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir."+call)
			if got := surface.SQLState(err); got != state {
				b.Errorf("%s: %v, want %s", call, err, state)
			}
		}
	})
}
