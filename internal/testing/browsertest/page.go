//go:build unix

package browsertest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Page is a tab of the browser. Its methods fail the test on errors.
type Page struct {
	t       testing.TB
	browser *browser
	session string
	saved   string // where downloads are

	mu         sync.Mutex
	requests   []string
	complaints []string
	loaded     chan struct{}
}

// NewPage opens an empty tab until the test ends, 1280 pixels wide and light.
func NewPage(t testing.TB) *Page {
	t.Helper()
	p := &Page{t: t, browser: launched(t), saved: t.TempDir()}
	context := field(t, p.must("Target.createBrowserContext", nil), "browserContextId")
	target := field(t, p.must("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context}), "targetId")
	session := field(t, p.must("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}), "sessionId")
	p.must("Browser.setDownloadBehavior", map[string]any{"behavior": "allow", "browserContextId": context, "downloadPath": p.saved})
	p.browser.mu.Lock()
	p.session = session
	p.browser.sessions[session] = p
	p.browser.mu.Unlock()
	for _, domain := range []string{"Page.enable", "Network.enable", "Runtime.enable", "Log.enable"} {
		p.must(domain, nil)
	}
	p.Resize(1280, 800)
	p.Scheme("light")
	t.Cleanup(func() {
		p.browser.mu.Lock()
		delete(p.browser.sessions, session)
		p.browser.mu.Unlock()
		_, _ = p.browser.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": context}) // the tab may have ended
	})
	return p
}

// must sends a command and returns its result.
func (p *Page) must(method string, params any) json.RawMessage {
	p.t.Helper()
	result, err := p.browser.call(p.session, method, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

func field(t testing.TB, result json.RawMessage, name string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(result, &fields); err != nil {
		t.Fatal(err)
	}
	text, _ := fields[name].(string)
	return text
}

// note keeps what the tab reports.
func (p *Page) note(m message) {
	var params struct {
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
		Entry struct {
			Level string `json:"level"`
			Text  string `json:"text"`
		} `json:"entry"`
		Details struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
		Type string          `json:"type"`
		Args json.RawMessage `json:"args"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, params.Request.URL)
	case "Runtime.exceptionThrown":
		p.complaints = append(p.complaints, params.Details.Text+" "+params.Details.Exception.Description)
	case "Runtime.consoleAPICalled":
		p.complaints = append(p.complaints, params.Type+" "+string(params.Args))
	case "Log.entryAdded":
		p.complaints = append(p.complaints, params.Entry.Level+" "+params.Entry.Text)
	case "Page.loadEventFired":
		if p.loaded != nil {
			close(p.loaded)
			p.loaded = nil
		}
	}
}

// Open opens an address and waits until the page has loaded.
func (p *Page) Open(url string) {
	p.t.Helper()
	loaded := make(chan struct{})
	p.mu.Lock()
	p.loaded, p.requests, p.complaints = loaded, nil, nil
	p.mu.Unlock()
	if field(p.t, p.must("Page.navigate", map[string]any{"url": url}), "loaderId") == "" {
		return // another fragment of the same page
	}
	select {
	case <-loaded:
	case <-p.browser.done:
		p.t.Fatal("the browser has ended")
	case <-time.After(patience):
		p.t.Fatalf("%s does not load within %s", url, patience)
	}
}

// Eval evaluates JavaScript, waits for its promise, and decodes the result into a value, if into is
// not nil.
func (p *Page) Eval(script string, into any) {
	p.t.Helper()
	var result struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Details *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	raw := p.must("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true})
	if err := json.Unmarshal(raw, &result); err != nil {
		p.t.Fatal(err)
	}
	if d := result.Details; d != nil {
		p.t.Fatalf("%s\n%s %s", script, d.Text, d.Exception.Description)
	}
	if into == nil {
		return
	}
	if len(result.Result.Value) == 0 {
		result.Result.Value = json.RawMessage("null")
	}
	if err := json.Unmarshal(result.Result.Value, into); err != nil {
		p.t.Fatalf("%s gives %s: %v", script, result.Result.Value, err)
	}
}

// Text returns the result of JavaScript as a string.
func (p *Page) Text(script string) string {
	p.t.Helper()
	var text string
	p.Eval("String("+script+")", &text)
	return text
}

// Wait waits until JavaScript gives something true, for at most ten seconds.
func (p *Page) Wait(script string) {
	p.t.Helper()
	var isTrue bool
	p.Eval(`(async () => {
		const end = performance.now() + 10000;
		while (performance.now() < end) {
			if (`+script+`) return true;
			await new Promise((done) => setTimeout(done, 10));
		}
		return false;
	})()`, &isTrue)
	if !isTrue {
		p.t.Fatalf("it does not become true: %s", script)
	}
}

// Resize sets the size of the view, in pixels.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	p.must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
}

// Scheme prefers light or dark colours.
func (p *Page) Scheme(name string) {
	p.t.Helper()
	p.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}})
}

// Press presses keys, by their names in JavaScript: "j", "Enter".
func (p *Page) Press(keys ...string) {
	p.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}
	for _, key := range keys {
		event := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
		if len(key) == 1 {
			event["text"] = key
		} else if key == "Enter" {
			event["text"] = "\r"
		}
		p.must("Input.dispatchKeyEvent", event)
		p.must("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]})
	}
}

// Type types a text into the element that has the focus.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.must("Input.insertText", map[string]any{"text": text})
}

// Click clicks the middle of the first element of a selector.
func (p *Page) Click(selector string) {
	p.t.Helper()
	var at []float64
	p.Eval(fmt.Sprintf(`(() => {
		const element = document.querySelector(%q);
		if (!element) return null;
		element.scrollIntoView({ block: 'center' });
		const box = element.getBoundingClientRect();
		return [box.x + box.width / 2, box.y + box.height / 2];
	})()`, selector), &at)
	if at == nil {
		p.t.Fatalf("there is no element %s to click", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.must("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1})
	}
}

// Wheel turns the wheel of the mouse in the middle of the view, by pixels.
func (p *Page) Wheel(by int) {
	p.t.Helper()
	p.must("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": 600, "y": 400, "deltaX": 0, "deltaY": by})
}

// Picture returns the view as PNG.
func (p *Page) Picture() []byte {
	p.t.Helper()
	picture, err := base64.StdEncoding.DecodeString(field(p.t, p.must("Page.captureScreenshot", map[string]any{"format": "png", "optimizeForSpeed": false}), "data"))
	if err != nil {
		p.t.Fatal(err)
	}
	return picture
}

// Requests returns the addresses that the tab asked for since it was opened.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Complaints returns the exceptions, messages and warnings of the tab since it was opened.
func (p *Page) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.complaints)
}

// Download returns the name and content of the file that the tab has saved, once it is there.
func (p *Page) Download() (name string, content []byte) {
	p.t.Helper()
	for range 1000 {
		found, err := os.ReadDir(p.saved)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, f := range found {
			if !strings.HasSuffix(f.Name(), ".crdownload") && !strings.HasPrefix(f.Name(), ".") {
				content, err := os.ReadFile(filepath.Join(p.saved, f.Name()))
				if err != nil {
					p.t.Fatal(err)
				}
				if len(content) > 0 {
					return f.Name(), content
				}
			}
		}
		p.Eval("new Promise((done) => setTimeout(done, 10))", nil)
	}
	p.t.Fatal("nothing was saved")
	return "", nil
}
