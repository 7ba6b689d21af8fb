package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

var yamlCases = map[string]bool{
	`{}`:   true,
	"{}\n": true,
	`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{}},"data":{"k":"v: #\"x\" \\ \n\u003c"}}`: true,
	`{"a":[1,-2,0,true,false,null,[],[{}],{"b":[]}],"c":123456789012345}`:                                             true,
	`{"1":"2","true":"null","~":"~","":""," ":" x ","*a":"*a","&":1}`:                                                 false,
	`{"1":"2","true":"null","~":"~","":""," ":" x ","*a":"*a","%":"- a","? b":"---"}`:                                 true,
	`{"a":1,"b":{"a":1,"b":2}}`: true,

	``:                            false,
	`null`:                        false,
	`[]`:                          false,
	`{"a":1,"a":1}`:               false,
	`{"a":1,"\u0061":1}`:          false,
	`{"<<":{"a":1}}`:              false,
	`{"a": 1}`:                    false,
	`{"a":1 }`:                    false,
	`{ "a":1}`:                    false,
	`{"a" :1}`:                    false,
	`{"a":[ ]}`:                   false,
	`{"a":[1 ,2]}`:                false,
	`{"a":[1, 2]}`:                false,
	`{"a":{ }}`:                   false,
	` {}`:                         false,
	"{}\n\n":                      false,
	"{\t}":                        false,
	`{}{}`:                        false,
	`{"a":1.0}`:                   false,
	`{"a":1e3}`:                   false,
	`{"a":-0}`:                    false,
	`{"a":1234567890123456}`:      false,
	`{"a":"\ud83d\ude00"}`:        false,
	`{"a":"\/"}`:                  false,
	`{"a":"<"}`:                   false,
	`{"a":"ä"}`:                   false,
	`{"a":"` + "\x7f" + `"}`:      false,
	`{"a":"\u003C"}`:              false,
	`{"a":1,}`:                    false,
	`{"a"}`:                       false,
	`{"a":tru}`:                   false,
	`{a: 1}`:                      false,
	"a: 1\n":                      false,
	`{"a":"b"`:                    false,
	`{"a":[1`:                     false,
	`{"a":-}`:                     false,
	"{\"a\":1}\n---\n{\"b\":1}\n": false,
}

func TestMeansSameInYAML(t *testing.T) {
	for data, want := range yamlCases {
		if got := jsonscan.MeansSameInYAML([]byte(data)); got != want {
			t.Errorf("%s: %v", data, got)
		}
		compareYAML(t, []byte(data))
	}
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	long := `{"` + strings.Repeat("a", 1100) + `":1}`
	wide := "{"
	for i := range 40 {
		wide += `"` + strings.Repeat("a", i) + `":1,`
	}
	for data, want := range map[string]bool{
		deep: false, long: false, wide + `"b":1}`: true, wide + `"aaa":1}`: false,
		wide + `"` + strings.Repeat("a", 39) + `":1}`: false,
	} {
		if got := jsonscan.MeansSameInYAML([]byte(data)); got != want {
			t.Errorf("%s: %v", data, got)
		}
		compareYAML(t, []byte(data))
	}
}

func FuzzMeansSameInYAML(f *testing.F) {
	for data := range yamlCases {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareYAML(t, data) })
}

// compareYAML checks the guarantee for one document.
func compareYAML(t *testing.T, data []byte) {
	if !jsonscan.MeansSameInYAML(data) {
		return
	}
	var got, want, strict map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if err := yaml.Unmarshal(data, &want); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if err := yaml.UnmarshalStrict(data, &strict); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(got, strict) {
		t.Fatalf("%q is %v as JSON and %v and %v as YAML", data, got, want, strict)
	}
	converted, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if trimmed := bytes.TrimSuffix(data, []byte("\n")); len(converted) != len(trimmed) {
		t.Fatalf("%q is converted to %q", data, converted)
	}
}
