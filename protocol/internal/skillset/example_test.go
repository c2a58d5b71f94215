package skillset_test

import (
	"fmt"
	"testing/fstest"

	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

func ExampleReadManifest() {
	text := `name = "acme.leads.sync"
version = "1.2.0"
description = "Copies new leads."
kind = "action"

[runtime]
language = "python"
entrypoint = "sync.py"
export = "sync"

[permissions]
secrets = ["CRM_TOKEN"]
`
	m, _, err := skillset.ReadManifest([]byte(text), fstest.MapFS{"sync.py": {Data: []byte("def sync(): ...\n")}})
	fmt.Println(m.Name, m.Version, m.Runtime.Entrypoint, m.Secrets, err)
	_, _, err = skillset.ReadManifest([]byte(text), fstest.MapFS{})
	fmt.Println(err)
	// Output:
	// acme.leads.sync 1.2.0 sync.py [CRM_TOKEN] <nil>
	// skill.toml:8: runtime.entrypoint: "sync.py" is not there
}
