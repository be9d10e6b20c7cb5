package weir

import (
	"testing"
	"time"
)

// PostgreSQL before 15 refuses an interval with a number beyond an int4; these tests run on newer ones.
func TestADurationIsWrittenInNumbersThatEveryPostgreSQLReads(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                                    "0 minutes 0 microseconds",
		1500 * time.Microsecond:              "0 minutes 1500 microseconds",
		100*time.Hour + time.Microsecond:     "6000 minutes 1 microseconds",
		10*365*24*time.Hour + 59*time.Second: "5256000 minutes 59000000 microseconds",
		-90 * time.Second:                    "-1 minutes -30000000 microseconds",
	} {
		if got := *interval(&d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}
