package entry

import (
	"testing"
	"time"
)

// rowTime is the time of every row.
var rowTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAgeHasAtMostTwoUnits(t *testing.T) {
	for _, test := range []struct {
		t    time.Time
		want string
	}{
		{time.Time{}, "<unknown>"},
		{rowTime, "0s"},
		{rowTime.Add(time.Second), "0s"},
		{rowTime.Add(time.Minute), "<invalid>"},
		{rowTime.Add(-119 * time.Second), "119s"},
		{rowTime.Add(-2 * time.Minute), "2m"},
		{rowTime.Add(-time.Hour), "60m"},
		{rowTime.Add(-75 * time.Hour), "3d3h"},
	} {
		if got := Age(test.t, rowTime); got != test.want {
			t.Errorf("Age(%v) is %s, not %s", test.t, got, test.want)
		}
	}
}
