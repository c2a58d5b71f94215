package librarytest

import (
	"errors"
	"testing"

	"github.com/satchel-go/satchel/library"
)

func tenants(t *testing.T, a, b library.Store) {
	c := change("one", "db:1", "pdf", 0, "secret")
	c.Grants = map[string]library.Role{"ann": "maintainer"}
	commit(t, a, c)
	ctx := t.Context()
	for _, tenant := range []string{"", "two", "ONE", "one ", "one%"} {
		heads, seq, err := b.Heads(ctx, tenant, 0)
		if err != nil || len(heads) != 0 || seq != 0 {
			t.Errorf("tenant %q sees %+v, %d, %v", tenant, heads, seq, err)
		}
		_, loaded := b.Load(ctx, tenant, "db:1", 0)
		_, blob := b.Blob(ctx, tenant, sum("secret"))
		if !errors.Is(loaded, library.ErrUnknown) || !errors.Is(blob, library.ErrUnknown) {
			t.Errorf("tenant %q loads %v, %v", tenant, loaded, blob)
		}
		entries, err := b.Entries(ctx, tenant, library.LogQuery{})
		roles, grantErr := b.Grants(ctx, tenant, "ann")
		if len(entries) != 0 || len(roles) != 0 || err != nil || grantErr != nil {
			t.Errorf("tenant %q has %v, %v, %v, %v", tenant, entries, roles, err, grantErr)
		}
	}
	commit(t, a, change("two", "db:1", "pdf", 0, "other"))
	if r, err := b.Load(ctx, "one", "db:1", 0); err != nil || r.Digest != sum("secret") {
		t.Errorf("another tenant's skill of the same id has changed this one: %+v, %v", r, err)
	}
}
