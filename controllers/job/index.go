package job

import (
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// span is a range of completion indexes, including both ends.
type span struct{ first, last int }

// indexes is a set of completion indexes: spans in order, with gaps between them.
type indexes []span

// parseIndexes parses the format of status.completedIndexes. Invalid parts are ignored, as are indexes from limit on.
func parseIndexes(s string, limit int) (out indexes) {
	for part := range strings.SplitSeq(s, ",") {
		low, high, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		last := first
		if ranged {
			if last, err = strconv.Atoi(high); err != nil {
				continue
			}
		}
		if first >= limit {
			break
		}
		if last < first {
			continue
		}
		out = out.add(span{first, min(last, limit-1)})
	}
	return out
}

// add appends a span that begins no earlier than the last one.
func (x indexes) add(s span) indexes {
	if n := len(x); n > 0 && s.first <= x[n-1].last+1 {
		x[n-1].last = max(x[n-1].last, s.last)
		return x
	}
	return append(x, s)
}

// with returns the union of both sets.
func (x indexes) with(y indexes) indexes {
	var out indexes
	for len(x) > 0 || len(y) > 0 {
		if len(y) == 0 || len(x) > 0 && x[0].first < y[0].first {
			out, x = out.add(x[0]), x[1:]
		} else {
			out, y = out.add(y[0]), y[1:]
		}
	}
	return out
}

func setOf(list []int) (out indexes) {
	for _, i := range slices.Sorted(slices.Values(list)) {
		out = out.add(span{i, i})
	}
	return out
}

func (x indexes) total() (n int) {
	for _, s := range x {
		n += s.last - s.first + 1
	}
	return n
}

func (x indexes) has(i int) bool {
	at, _ := slices.BinarySearchFunc(x, i, func(s span, i int) int { return s.last - i })
	return at < len(x) && x[at].first <= i
}

// common returns the number of indexes that are in both sets.
func (x indexes) common(y indexes) (n int) {
	for len(x) > 0 && len(y) > 0 {
		n += max(0, min(x[0].last, y[0].last)-max(x[0].first, y[0].first)+1)
		if x[0].last < y[0].last {
			x = x[1:]
		} else {
			y = y[1:]
		}
	}
	return n
}

// missing returns the first n indexes below limit that aren't in the set.
func (x indexes) missing(n, limit int) (out []int) {
	next := 0
	for _, s := range append(slices.Clone(x), span{limit, limit}) {
		for ; next < min(s.first, limit) && len(out) < n; next++ {
			out = append(out, next)
		}
		next = max(next, s.last+1)
	}
	return out
}

// String returns the format of status.completedIndexes: numbers and ranges of three or more, separated by commas.
func (x indexes) String() string {
	var b strings.Builder
	for i, s := range x {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s.first))
		switch s.last - s.first {
		case 0:
			continue
		case 1:
			b.WriteByte(',')
		default:
			b.WriteByte('-')
		}
		b.WriteString(strconv.Itoa(s.last))
	}
	return b.String()
}

// none is the index of a pod without a completion index.
const none = -1

func indexOf(p *corev1.Pod) int {
	i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || i < 0 {
		return none
	}
	return i
}

func indexesOf(pods []*corev1.Pod) indexes {
	var list []int
	for _, p := range pods {
		if i := indexOf(p); i != none {
			list = append(list, i)
		}
	}
	return setOf(list)
}

// indexed reports whether the Job's pods have completion indexes.
func indexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

// counted reports whether the Job can count the pod: an indexed Job only counts pods with an index of its own.
func counted(j *batchv1.Job, p *corev1.Pod) bool {
	if !indexed(j) {
		return true
	}
	i := indexOf(p)
	return i != none && i < int(*j.Spec.Completions)
}
