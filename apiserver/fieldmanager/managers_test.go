package fieldmanager

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
)

// TestVersionsShareAConverter: a converter has the schemas of all versions, so the memory for one converter per version
// would grow with the square of the number of versions. A converter is dropped when its definition is deleted.
func TestVersionsShareAConverter(t *testing.T) {
	d := &apiextensionsv1.CustomResourceDefinition{}
	d.Spec.Group = "x.io"
	d.Status.AcceptedNames = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"}
	d.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	for _, name := range []string{"v1", "v2", "v3"} {
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: name == "v1",
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			},
		})
	}
	entries, made := customresource.Entries(d, webhook.NewClients(nil)), 0
	for _, r := range entries {
		r.State = "state"
	}
	pods := table.Lookup("", "v1", "pods")
	types := resources.NewTable(append([]*resources.Resource{pods}, entries...)...)
	m := New(Config{Types: types, Custom: func(*resources.Resource) (managedfields.TypeConverter, error) {
		made++
		return managedfields.NewDeducedTypeConverter(), nil
	}})
	for _, r := range entries {
		for _, sub := range []string{"", "status"} {
			if _, err := m.endpoint(r, sub); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made != 1 {
		t.Errorf("%d converters of one definition", made)
	}
	if _, err := m.endpoint(pods, ""); err != nil {
		t.Fatal(err)
	}
	types.Remove(entries...)
	if _, err := m.endpoint(pods, ""); err != nil {
		t.Fatal(err)
	}
	if len(m.endpoints) != 1 || len(m.converters) != 0 {
		t.Errorf("after the definition was deleted: %d endpoints, %d converters", len(m.endpoints), len(m.converters))
	}
}
