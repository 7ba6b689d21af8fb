package connections

// largest is a heap of accounts: the one with the most bytes is first, of equal ones the oldest.
type largest []*account

// Len and the other methods implement heap.Interface.
func (l largest) Len() int { return len(l) }

func (l largest) Less(i, j int) bool {
	a, b := l[i], l[j]
	return a.bytes > b.bytes || a.bytes == b.bytes && a.born < b.born
}

func (l largest) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].at, l[j].at = i, j
}

// Push implements heap.Interface.
func (l *largest) Push(x any) {
	a := x.(*account)
	a.at = len(*l)
	*l = append(*l, a)
}

// Pop implements heap.Interface.
func (l *largest) Pop() any {
	n := len(*l) - 1
	a := (*l)[n]
	(*l)[n] = nil
	*l = (*l)[:n]
	return a
}
