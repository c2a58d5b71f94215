package skilltools

// skillAliases returns other names that models use for the field "skill".
func skillAliases() []string { return []string{"name", "skill_name", "skillName"} }

// skillsAliases returns other names that models use for the field "skills".
func skillsAliases() []string { return []string{"names", "skill_names", "skillNames"} }
