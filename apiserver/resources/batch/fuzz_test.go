package batch

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FuzzIndexes: a text that can be parsed has ascending intervals of indexes below the number of completions.
func FuzzIndexes(f *testing.F) {
	for _, text := range []string{"", "1", "0-2,4", "3,1", "2-1", "-1", "1-", "a", "1,,2", "1-2-3", "99"} {
		f.Add(text, int32(10))
	}
	f.Fuzz(func(t *testing.T, text string, completions int32) {
		list, err := parseIndexes(text, completions)
		if err != nil {
			return
		}
		next := int32(0)
		for _, v := range list {
			if v.first < next || v.last < v.first || v.last >= completions {
				t.Fatalf("%q of %d indexes: %v", text, completions, list)
			}
			next = v.last + 1
		}
	})
}

// FuzzSchedule: no schedule and no time zone causes a panic, and only known time zones are valid.
func FuzzSchedule(f *testing.F) {
	for _, text := range []string{
		"* * * * *", "@daily", "TZ=0", "CRON_TZ=", "TZ=UTC 0 0 * * *", "0-99999999 * * * *", "*/0 * * * *",
	} {
		f.Add(text, "Europe/Berlin")
	}
	f.Fuzz(func(t *testing.T, text, zone string) {
		schedule(text, true, true, field.NewPath("schedule"))
		timeZone(&zone, field.NewPath("timeZone"))
	})
}
