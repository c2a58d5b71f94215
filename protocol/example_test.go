package protocol_test

import (
	"crypto/sha256"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/protocol"
)

func ExampleOpenTokenFile() {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "tokens")
	line := fmt.Sprintf("acme ann read,run sha256:%x\n", sha256.Sum256([]byte("a token")))
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	tokens, err := protocol.OpenTokenFile(file, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := httptest.NewRequest("POST", "/rpc", nil)
	request.Header.Set("Authorization", "Bearer a token")
	who, err := tokens.Authenticate(request)
	fmt.Println(who.Tenant, err)
	// Output: acme <nil>
}
