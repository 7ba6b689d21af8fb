package kubecascade_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
)

// A server for one test, or one step of a program: no files stay, and no port has to be free.
func ExampleStart() {
	server, err := kubecascade.Start(context.Background(), kubecascade.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client, err := rest.HTTPClientFor(server.Config()) // or kubernetes.NewForConfig, client.New ...
	if err != nil {
		log.Fatal(err)
	}
	res, err := client.Get(server.URL() + "/api/v1/namespaces/default")
	if err != nil {
		log.Fatal(err)
	}
	_ = res.Body.Close()
	fmt.Println(res.Status)
	fmt.Println(server.Stop())
	// Output:
	// 200 OK
	// <nil>
}

// Dependents are deleted with their owner. Settle waits for the garbage collector, so that a test needs no polling.
func ExampleServer_Settle() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := kubecascade.Start(ctx, kubecascade.Options{Addresses: kubecascade.Addresses{InsecurePort: -1}})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	maps := server.InsecureURL() + "/api/v1/namespaces/default/configmaps"
	send := func(method, url, body string) string {
		req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil {
			log.Fatal(err)
		}
		return fmt.Sprint(res.StatusCode, " ", string(data))
	}
	owner := send("POST", maps, `{"metadata":{"name":"owner"}}`)
	_, uid, _ := strings.Cut(owner, `"uid":"`)
	uid, _, _ = strings.Cut(uid, `"`)
	send("POST", maps, `{"metadata":{"name":"dependent","ownerReferences":[
		{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+uid+`"}]}}`)

	send("DELETE", maps+"/owner", "")
	if err := server.Settle(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(send("GET", maps+"/dependent", "")[:3])
	// Output: 404
}

// A test may change anything, and the next one begins with the same state: a rollback takes milliseconds.
func ExampleServer_Rollback() {
	ctx := context.Background()
	server, err := kubecascade.Start(ctx, kubecascade.Options{Addresses: kubecascade.Addresses{InsecurePort: -1}})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	send := func(method, path, body string) string {
		req, err := http.NewRequestWithContext(ctx, method, server.InsecureURL()+path, strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		_ = res.Body.Close()
		return res.Status
	}
	send("POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	if err := server.Checkpoint(ctx, ""); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		fmt.Println(send("POST", "/api/v1/namespaces/shop/configmaps", `{"metadata":{"name":"settings"}}`))
		fmt.Println(send("DELETE", "/api/v1/namespaces/shop", ""))
		if err := server.Rollback(ctx, ""); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 201 Created
	// 200 OK
	// 201 Created
	// 200 OK
}

// Data in a directory outlives the server. Flags of "kubecascade serve" have fields in Options.
func ExampleOptions() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server, err := kubecascade.Start(context.Background(), kubecascade.Options{
		Storage:     kubecascade.Storage{Dir: dir},
		Controllers: kubecascade.Controllers{Enabled: []string{"*", "-job-controller"}},
		Access:      kubecascade.Access{Modes: []string{"RBAC"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(server.Stop())

	wrong := kubecascade.Options{Access: kubecascade.Access{Modes: []string{"ABAC"}}}
	_, err = kubecascade.Start(context.Background(), wrong)
	fmt.Println(err)
	fmt.Println(errors.Unwrap(err))
	// Output:
	// <nil>
	// kubecascade: Options.Access.Modes: unknown mode "ABAC"; the modes are AlwaysAllow, AlwaysDeny, RBAC
	// --authorization-mode: unknown mode "ABAC"; the modes are AlwaysAllow, AlwaysDeny, RBAC
}
