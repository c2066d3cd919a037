// Sends one AdmissionReview again and again, as an API server does: HTTP/1.1, TLS, connections that are kept.
//
//	load -url https://127.0.0.1:8443/mutate?timeout=3s -ca ca.crt -body review.json -n 10000 -c 8 [-rate 500] [-for 5s]
//
// Each request has a uid of its own, in the place of the text UID in the body, and the number of the request in the
// place of the text NUMBER. One JSON object on standard output says what came back:
//
//	{"seconds": .., "requests": .., "failed": .., "first": "..", "changed": .., "unchanged": .., "warned": ..,
//	 "denied": .., "handshakes": .., "p50": ms, "p90": ms, "p99": ms, "max": ms}
//
// With -rate, requests begin at fixed times and a late one counts from when it should have begun.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type review struct {
	Response struct {
		UID      string   `json:"uid"`
		Allowed  bool     `json:"allowed"`
		Patch    string   `json:"patch"`
		Warnings []string `json:"warnings"`
	} `json:"response"`
}

type result struct {
	Seconds    float64 `json:"seconds"`
	Requests   int     `json:"requests"`
	Failed     int     `json:"failed"`
	First      string  `json:"first"`
	Changed    int     `json:"changed"`
	Unchanged  int     `json:"unchanged"`
	Warned     int     `json:"warned"`
	Denied     int     `json:"denied"`
	Handshakes int64   `json:"handshakes"`
	P50        float64 `json:"p50"`
	P90        float64 `json:"p90"`
	P99        float64 `json:"p99"`
	Max        float64 `json:"max"`
}

func main() {
	url := flag.String("url", "", "")
	ca := flag.String("ca", "", "PEM file; none: any certificate is taken")
	file := flag.String("body", "", "")
	number := flag.Int("n", 0, "requests; 0: until -for")
	clients := flag.Int("c", 1, "connections")
	rate := flag.Float64("rate", 0, "requests a second; 0: as fast as they are answered")
	lasts := flag.Duration("for", time.Hour, "")
	reconnect := flag.Int("reconnect", 0, "a new connection after so many requests")
	flag.Parse()
	body, err := os.ReadFile(*file)
	check(err)
	trust := &tls.Config{InsecureSkipVerify: *ca == ""}
	if *ca != "" {
		pem, err := os.ReadFile(*ca)
		check(err)
		trust.RootCAs = x509.NewCertPool()
		trust.RootCAs.AppendCertsFromPEM(pem)
	}
	var handshakes, next atomic.Int64
	var mutex sync.Mutex
	var total result
	var times []float64
	start := time.Now()
	end := start.Add(*lasts)
	var group sync.WaitGroup
	for range *clients {
		group.Add(1)
		go func() {
			defer group.Done()
			transport := &http.Transport{
				TLSClientConfig:     trust,
				MaxIdleConnsPerHost: 1,
				DialContext: func(c context.Context, network, address string) (net.Conn, error) {
					handshakes.Add(1)
					return (&net.Dialer{}).DialContext(c, network, address)
				},
			}
			client := &http.Client{Transport: transport, Timeout: 35 * time.Second}
			var own result
			var took []float64
			sent := 0
			for {
				index := next.Add(1) - 1
				if *number > 0 && index >= int64(*number) || time.Now().After(end) {
					break
				}
				begin := time.Now()
				if *rate > 0 {
					begin = start.Add(time.Duration(float64(index) / *rate * float64(time.Second)))
					time.Sleep(time.Until(begin))
				}
				uid := fmt.Sprintf("uid-%d", index)
				filled := bytes.ReplaceAll(body, []byte("UID"), []byte(uid))
				filled = bytes.ReplaceAll(filled, []byte("NUMBER"), []byte(fmt.Sprint(index)))
				answer, err := post(client, *url, filled)
				took = append(took, float64(time.Since(begin).Microseconds())/1000)
				own.Requests++
				switch {
				case err == nil && answer.Response.UID != uid:
					err = fmt.Errorf("the uid is %q", answer.Response.UID)
					fallthrough
				case err != nil:
					own.Failed++
					if own.First == "" {
						own.First = err.Error()
					}
				case !answer.Response.Allowed:
					own.Denied++
				case answer.Response.Patch != "":
					own.Changed++
				default:
					own.Unchanged++
				}
				if err == nil && len(answer.Response.Warnings) > 0 {
					own.Warned++
				}
				sent++
				if *reconnect > 0 && sent%*reconnect == 0 {
					transport.CloseIdleConnections()
				}
			}
			mutex.Lock()
			defer mutex.Unlock()
			total.Requests += own.Requests
			total.Failed += own.Failed
			total.Changed += own.Changed
			total.Unchanged += own.Unchanged
			total.Warned += own.Warned
			total.Denied += own.Denied
			if total.First == "" {
				total.First = own.First
			}
			times = append(times, took...)
		}()
	}
	group.Wait()
	total.Seconds = time.Since(start).Seconds()
	total.Handshakes = handshakes.Load()
	sort.Float64s(times)
	if len(times) > 0 {
		at := func(share float64) float64 { return times[min(len(times)-1, int(share*float64(len(times))))] }
		total.P50, total.P90, total.P99, total.Max = at(0.5), at(0.9), at(0.99), times[len(times)-1]
	}
	check(json.NewEncoder(os.Stdout).Encode(total))
}

func post(client *http.Client, url string, body []byte) (review, error) {
	var answer review
	response, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer, err
	}
	if response.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("%s: %s", response.Status, text)
	}
	return answer, json.Unmarshal(text, &answer)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
