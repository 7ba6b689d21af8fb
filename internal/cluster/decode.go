package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// metadataOnly asks for metadata, in protobuf if possible. A server that knows neither form returns whole objects.
const metadataOnly = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// magic begins objects in protobuf.
var magic = []byte{'k', '8', 's', 0}

// decode decodes a page of a list.
func decode(media string, body []byte) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	if !is(media, "application/vnd.kubernetes.protobuf", "") {
		return list, json.Unmarshal(body, list)
	}
	data, ok := bytes.CutPrefix(body, magic)
	if !ok {
		return nil, errors.New("the response is not Kubernetes' protobuf")
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(data); err != nil {
		return nil, fmt.Errorf("protobuf: %w", err)
	}
	if err := list.Unmarshal(unknown.Raw); err != nil {
		return nil, fmt.Errorf("protobuf: %w", err)
	}
	return list, nil
}
