package workspace

// For tests outside of the package.
var (
	SkillDirName  = skillDirName
	SafeName      = safeName
	ResolveTarget = resolveTarget
	ResolveCwd    = resolveCwd
)

// ParseSource returns the scheme, skill and path of a source.
func ParseSource(from string) (scheme, skill, path, base string, err error) {
	src, err := parseSource(from)
	return src.scheme, src.skill, src.path, src.base(), err
}
