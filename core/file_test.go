package core_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

func ExampleFile_SetURL() {
	var f core.File
	f.SetURL("data:text/csv;name=prices.csv;base64,YSxiCg==")
	data, err := f.Data()
	fmt.Printf("%s %s %q %v\n", f.Name, f.MIME, data, err)

	var linked core.File
	linked.SetURL("https://example.com/prices.csv")
	fmt.Println(linked.ID, linked.Data == nil)
	// Output:
	// prices.csv text/csv "a,b\n" <nil>
	// https://example.com/prices.csv true
}

func ExampleFile_SetBase64() {
	var f core.File
	f.SetBase64("YSxiCg==")
	data, err := f.Data()
	fmt.Printf("%q %v\n", data, err)
	// Output: "a,b\n" <nil>
}

func fileAt(address string) (f core.File) {
	f.SetURL(address)
	return f
}

func fileOf(text string) (f core.File) {
	f.SetBase64(text)
	return f
}

// TestFileSetAgain sets the content of one file in each way after each other way.
func TestFileSetAgain(t *testing.T) {
	sets := map[string]func(f *core.File){
		"bytes":  func(f *core.File) { f.SetBytes([]byte("hi")) },
		"base64": func(f *core.File) { f.SetBase64("aGk=") },
		"data":   func(f *core.File) { f.SetURL("data:;base64,aGk=") },
		"link":   func(f *core.File) { f.SetURL("https://example.com/a") },
	}
	for first, set := range sets {
		for second, setAgain := range sets {
			var want, got core.File
			setAgain(&want)
			set(&got)
			setAgain(&got)
			if got.ID != want.ID || got.Size != want.Size || (got.Data == nil) != (want.Data == nil) || got.SameAs(&want) != want.SameAs(&want) {
				t.Errorf("%s after %s is %+v, want %+v", second, first, got, want)
			}
		}
	}
}

func TestFileURL(t *testing.T) {
	for _, tt := range []struct {
		name, address string
		want          core.File
		data          string
	}{
		{"base64", "data:image/png;base64,aGk=", core.File{MIME: "image/png"}, "hi"},
		{"no padding", "data:;base64,aGk", core.File{}, "hi"},
		{"URL alphabet", "data:;base64,_-8=", core.File{}, "\xff\xef"},
		{"escaped padding", "data:;base64,aGk%3D", core.File{}, "hi"},
		{"line breaks", "data:;base64,a\r\nGk=\n", core.File{}, "hi"},
		{"percent", "data:text/plain,a%20b+c", core.File{MIME: "text/plain"}, "a b+c"},
		{"parameters", `data:text/csv;charset=utf-8;filename="a%20b.csv";base64,aGk=`, core.File{MIME: "text/csv", Name: "a b.csv"}, "hi"},
		{"scheme in capitals", "DATA:a/b;BASE64,aGk=", core.File{MIME: "a/b"}, "hi"},
		{"bad escape in a name", "data:a/b;name=%zz,x", core.File{MIME: "a/b", Name: "%zz"}, "x"},
		{"no type", "data:base64,x", core.File{}, "x"},
		{"empty", "data:,", core.File{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fileAt(tt.address)
			if f.ID != "" || f.Name != tt.want.Name || f.MIME != tt.want.MIME {
				t.Errorf("file is %+v, want %+v", f, tt.want)
			}
			for range 2 {
				if data, err := f.Data(); err != nil || string(data) != tt.data {
					t.Errorf("data is %q, %v, want %q", data, err, tt.data)
				}
			}
		})
	}
	for _, address := range []string{"https://e.com/a", "file:///etc/passwd", "artifact://a@0", "", "dat"} {
		if f := fileAt(address); f.ID != address || f.Data != nil || f.Name != "" {
			t.Errorf("%q is %+v, want its ID only", address, f)
		}
	}
}

func TestFileErrors(t *testing.T) {
	for _, f := range []core.File{
		fileAt("data:image/png;base64"),
		fileAt("data:" + strings.Repeat("x", 10_000) + ",y"),
		fileAt("data:;base64,***"),
		fileAt("data:;base64,a"),
		fileAt("data:,%zz"),
		fileOf("no base64"),
	} {
		if data, err := f.Data(); !errors.Is(err, core.ErrEncoding) || data != nil {
			t.Errorf("data is %q, error %v, want ErrEncoding", data, err)
		}
	}
	f := fileOf("data:a/b;name=c,d")
	if data, err := f.Data(); err != nil || string(data) != "d" || f.MIME != "a/b" || f.Name != "c" {
		t.Errorf("a data: URL in the place of base64 is %+v with %q, %v", f, data, err)
	}
}

// FuzzFileURL checks that any address gives either an ID or content, and that content equals
// what was encoded.
func FuzzFileURL(f *testing.F) {
	f.Add("data:text/csv;name=a.csv;base64,aGk=")
	f.Add("https://example.com")
	f.Add("data:;,%")
	f.Fuzz(func(t *testing.T, address string) {
		file := fileAt(address)
		if (file.Data == nil) != (file.ID == address && !strings.EqualFold(address[:min(5, len(address))], "data:")) {
			t.Fatalf("%q is %+v", address, file)
		}
		if file.Data != nil {
			if _, err := file.Data(); err != nil && !errors.Is(err, core.ErrEncoding) {
				t.Fatalf("%q: %v", address, err)
			}
		}
		for _, again := range []core.File{
			fileOf(base64.StdEncoding.EncodeToString([]byte(address))),
			fileAt("data:;base64," + base64.RawURLEncoding.EncodeToString([]byte(address))),
			fileAt("data:," + url.PathEscape(address)),
		} {
			if data, err := again.Data(); err != nil || !bytes.Equal(data, []byte(address)) {
				t.Fatalf("%q came back as %q, %v", address, data, err)
			}
		}
	})
}
