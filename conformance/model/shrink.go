package model

import "slices"

// Shrink returns a shorter list of operations for which fails still returns true. It first removes sequences of
// operations, then fields of single operations, while fails returns true. It calls fails at most limit times. fails
// must return true for ops.
func Shrink(ops []Op, limit int, fails func([]Op) bool) []Op {
	ask := func(try []Op) bool {
		limit--
		return limit >= 0 && fails(try)
	}
	for size := max(1, len(ops)/2); limit > 0; size = max(1, size/2) {
		cut := false
		for end := len(ops); end > 0 && limit > 0; end -= size { // from the end, because causes are usually early
			start := max(0, end-size)
			if end > len(ops) || start == 0 && end == len(ops) {
				continue
			}
			try := slices.Concat(ops[:start], ops[end:])
			if ask(try) {
				ops, cut = try, true
			}
		}
		if size == 1 && !cut {
			break
		}
	}
	return simplify(ops, ask)
}

// simplify removes fields of single operations.
func simplify(ops []Op, fails func([]Op) bool) []Op {
	for i := range ops {
		for _, simpler := range simplerOps(ops[i]) {
			try := slices.Clone(ops)
			try[i] = simpler(try[i])
			if try[i].String() != ops[i].String() && fails(try) {
				ops = try
			}
		}
	}
	return ops
}

func simplerOps(op Op) []func(Op) Op {
	all := []func(Op) Op{
		func(o Op) Op { o.Query = false; return o },
		func(o Op) Op { o.UID = ""; return o },
		func(o Op) Op { o.Version = 0; return o },
		func(o Op) Op { o.Grace = nil; return o },
		func(o Op) Op { o.Label, o.Set = "", o.Set&^SetLabel; return o },
		func(o Op) Op { o.Finalizers = nil; return o },
		func(o Op) Op { o.Owners = nil; return o },
	}
	for n := range op.Owners {
		all = append(all, func(o Op) Op {
			if n < len(o.Owners) {
				o.Owners = slices.Delete(slices.Clone(o.Owners), n, n+1)
			}
			return o
		})
	}
	return all
}
