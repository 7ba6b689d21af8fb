package entry

import "context"

// During returns the entry for one request, by whose context conversions end.
func (r *Resource) During(ctx context.Context) *Resource {
	if r.Bind == nil {
		return r
	}
	return r.Listed().Bind(ctx)
}

// Copy returns a copy of an entry of the table, for Bind.
func (r *Resource) Copy() *Resource {
	out := *r
	out.bound = r
	return &out
}

// Listed returns the entry of the table: by that, and not by its copies, entries are compared and remembered.
func (r *Resource) Listed() *Resource {
	if r.bound != nil {
		return r.bound
	}
	return r
}
