package storage

import (
	"time"

	kjson "sigs.k8s.io/json"
)

// parseMeta parses metadata. The strings of the result are copies: otherwise a uid would keep the whole JSON in memory.
func parseMeta(data []byte) (m Meta, err error) {
	in := struct {
		*Meta
		CreationTimestamp any `json:"creationTimestamp"`
	}{Meta: &m}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &in); err != nil {
		return Meta{}, err
	}
	if len(m.Labels) == 0 {
		m.Labels = nil
	}
	created, _ := in.CreationTimestamp.(string)
	m.Created, _ = time.Parse(time.RFC3339, created)
	m.Deletion = m.Deletion.UTC()
	return m, nil
}
