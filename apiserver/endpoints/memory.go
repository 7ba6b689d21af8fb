package endpoints

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// maxBodyMemory bounds what one body may take, however much memory there is: larger blocks of memory are copied and
// cleared without a pause, so that all requests wait.
const maxBodyMemory = 256 << 20

// maxJSONPatchMemory is maxBodyMemory for a JSON patch. Its estimate assumes that all values which it may copy are the
// costliest of the object's kind, so it is further from what the patch takes.
const maxJSONPatchMemory = 2 * maxBodyMemory

// slowBody is the number of bytes whose estimate takes milliseconds.
const slowBody = 256 << 10

// errDeferred: the request continues with q.rest once it holds the memory for it. No client sees it.
var errDeferred = errors.New("the request waits for memory")

// charge waits until there is memory for what is known of the request before it is served. What YAML with aliases
// stands for is known once it is parsed, which takes memory as well.
func (a *API) charge(q *request) error {
	body, media := q.body(), q.media()
	bytes, exact, err := a.weighInTurn(q, media, body)
	if err != nil {
		return err
	}
	if exact || bytes <= budget.Light && !weight.Aliased(body) {
		return q.memory.Reserve(q.r, bytes, q.mostMemory())
	}
	tree, _ := codec.TreeKind.YAML(body)
	if err := q.memory.Reserve(q.r, tree.Write(), 0); err != nil {
		return err
	}
	if codec.CheckAliases(body) != nil {
		return nil // the decoder returns the error
	}
	data, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil // as above
	}
	bytes, _ = a.weigh(q, codec.MediaJSON, data)
	return q.memory.Reserve(q.r, tree.Write()+bytes, tree.Write()+maxBodyMemory)
}

// mostMemory is what the request's body may take.
func (q *request) mostMemory() int64 {
	if q.verb == "patch" && types.PatchType(patchMedia(q.r)) == types.JSONPatchType {
		return maxJSONPatchMemory
	}
	return maxBodyMemory
}

// weighInTurn is weigh.
func (a *API) weighInTurn(q *request, media string, body []byte) (n int64, exact bool, err error) {
	err = a.limits.InTurn(q.r, q.User.Name, len(body) > slowBody, func() { n, exact = a.weigh(q, media, body) })
	return n + q.recordedBody(len(body)), exact, err
}

// afford makes an answer that takes so much memory: in the request's seat, if there is that much at once. Else the
// request gives its seat back, waits, and continues in another. The memory that the request holds already counts
// towards the answer: nothing else needs it by then.
func (q *request) afford(bytes int64, answer func() error) error {
	if q.memory.Try(bytes) {
		return answer()
	}
	q.rest, q.wants = answer, bytes
	return errDeferred
}
