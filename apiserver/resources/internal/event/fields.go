package event

import "github.com/kubecascade/kubecascade/apiserver/resources/entry"

// Fields are the selectable fields of both versions of events, which have different labels; the stored JSON is v1's.
func Fields(object, controller string) []entry.Field {
	var s []entry.Field
	for _, f := range []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"} {
		s = append(s, entry.Field{Label: object + "." + f, Paths: []string{"involvedObject." + f}})
	}
	return append(s, entry.Field{Label: "reason"},
		entry.Field{Label: controller, Paths: []string{"reportingComponent"}}, entry.Field{Label: "type"})
}
