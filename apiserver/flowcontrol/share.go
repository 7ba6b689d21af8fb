package flowcontrol

import "math"

// claim is one level's demand for seats: it gets at least least, at most most, and could use wanted. 0 <= least <=
// most.
type claim struct{ least, most, wanted int }

// share divides seats among levels. Each gets what it never lends. Each further seat goes to the level that has the
// smallest part of what it wants. Seats that no level wants are divided in proportion to the nominal seats, so that
// they are there for a burst. If there are fewer seats than the sum of least, each level still has its least.
func share(seats int, claims []claim) []int {
	given := make([]int, len(claims))
	for i, c := range claims {
		given[i] = c.least
		seats -= c.least
	}
	for _, limit := range []func(claim) int{
		func(c claim) int { return min(max(c.wanted, c.least), c.most) },
		func(c claim) int { return c.most },
	} {
		for ; seats > 0; seats-- {
			i := neediest(claims, given, limit)
			if i < 0 {
				break
			}
			given[i]++
		}
	}
	return given
}

// neediest is the level below its limit that has the smallest part of it; -1 if there is none.
func neediest(claims []claim, given []int, limit func(claim) int) int {
	found, least := -1, math.Inf(1)
	for i, c := range claims {
		most := limit(c)
		if given[i] >= most {
			continue
		}
		if part := float64(given[i]) / float64(most); part < least {
			found, least = i, part
		}
	}
	return found
}
