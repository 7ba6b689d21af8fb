package storage

import (
	"time"

	kjson "sigs.k8s.io/json"
)

// objectMeta has the fields of metadata that are read. Its strings are copies: otherwise a uid would keep the whole
// JSON in memory.
type objectMeta struct {
	Name                       string            `json:"name"`
	Namespace                  string            `json:"namespace"`
	UID                        string            `json:"uid"`
	Generation                 int64             `json:"generation"`
	Labels                     map[string]string `json:"labels"`
	Finalizers                 []string          `json:"finalizers"`
	DeletionTimestamp          time.Time         `json:"deletionTimestamp"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds"`
	CreationTimestamp          any               `json:"creationTimestamp"`
	OwnerReferences            []Owner           `json:"ownerReferences"`
}

func parseMeta(data []byte) (m Meta, err error) {
	var in objectMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &in); err != nil {
		return Meta{}, err
	}
	m = Meta{
		Namespace: in.Namespace, Name: in.Name, UID: in.UID, Generation: in.Generation, Finalizers: in.Finalizers,
		GracePeriodSeconds: in.DeletionGracePeriodSeconds, Deletion: in.DeletionTimestamp.UTC(),
		Owners: in.OwnerReferences,
	}
	if len(in.Labels) > 0 {
		m.Labels = in.Labels
	}
	created, _ := in.CreationTimestamp.(string)
	m.Created, _ = time.Parse(time.RFC3339, created)
	return m, nil
}
