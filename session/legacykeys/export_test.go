package legacykeys

// Exported and Imported are Export and Import without a store.
var (
	Exported = exported
	Imported = imported
)
