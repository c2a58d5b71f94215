package steps

import "strings"

// Numbers of a word that means "skill".
const (
	singular = 1
	plural   = 2
)

// skillWords are the words for "skill" in English, German, French and Spanish.
var skillWords = map[string]int{
	"skill": singular, "skills": plural,
	"fähigkeit": singular, "fähigkeiten": plural, "faehigkeit": singular, "faehigkeiten": plural,
	"compétence": singular, "compétences": plural, "competence": singular, "competences": plural,
	"habilidad": singular, "habilidades": plural,
}

// denseSkillWords are the words for "skill" in Chinese and Japanese.
var denseSkillWords = []string{"技能", "スキル"}

// skillStems are parts that the words for "skill" have.
var skillStems = []string{"skill", "higkeit", "compétence", "competence", "habilidad", "技能", "スキル"}

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

var (
	// joinWords stand between the last two names of a list.
	joinWords = wordSet(`and or and/or und oder et ou y e o u plus`)
	// namingWords may stand between "skill" and a name.
	namingWords = wordSet(`called named namens genannt appelée appelé nommée nommé llamada llamado denominada`)
	// useWords say that a skill is to be used.
	useWords = wordSet(`use uses using usage load loading activate apply applying invoke with via run take try
		benutze benutz benutzen nutze nutz nutzen verwende verwenden nimm nehmen mit lade laden
		utilise utilises utiliser utilisez utilisant emploie employer avec charge charger
		usa use uses usar usando utiliza utilice utilizar emplea con carga cargar`)
	// withWords are prepositions before what is used.
	withWords = wordSet(`with via by mit per avec par con mediante por`)
	// ownWords say whose skill it is. A user's own skills are not the agent's.
	ownWords = wordSet(`my mine our his her their mein meine meinen meinem meiner meines unser unsere unseren unserem unserer
		mon ma mes notre nos leur leurs mi mis nuestra nuestras nuestro nuestros su sus`)
	// anyWords are articles before a skill that is not a certain one.
	anyWords = wordSet(`a an any some another new which what no ein eine einen einem einer neue neuen welche welchen
		un une des quelle quelles una unas unos alguna qué cuál`)
	// clauseWords begin a new clause.
	clauseWords = wordSet(`but so then because since if when while although though unless instead
		sondern aber wenn falls weil da damit dass obwohl denn also dann
		mais donc si quand parce puisque alors pero sino entonces porque cuando pues`)

	// notWords deny what follows them.
	notWords = wordSet(`not don't don’t dont doesn't doesn’t didn't didn’t won't won’t can't can’t cannot shouldn't shouldn’t mustn't
		mustn’t needn't needn’t isn't isn’t never neither nor no
		nicht kein keine keinen keinem keiner keines nie niemals weder
		pas jamais aucun aucune ni nunca jamás tampoco ningún ninguna`)
	// againstWords deny a skill that directly follows.
	againstWords = wordSet(`without w/o avoid avoiding omit omitting skip skipping ignore forget stop refrain drop except unload disable remove delete uninstall than
		ohne statt anstatt anstelle außer vermeide vermeiden verzichte verzichten verzichtet vergiss vergesst vergessen deaktiviere entlade entferne lösche
		sans sauf évite évitez éviter ignore oublie oublies oublier oubliez désactive
		sin salvo excepto evita evitar olvides olvide olvida olvidar desactiva`)
	// betweenWords may stand between a word of againstWords and the skill.
	betweenWords = wordSet(`the a an any your this that these those to of from for about help need please even using use usage loading
		auf den dem der des die das dein deinen deine zu von benutzen nutzen verwenden bitte
		que le la les l du de d ton ta tes ce cette utiliser l'aide aide recours à au
		el los las tu del usar utilizar uso ayuda esta este`)
	// leaveWords and outWords together deny a skill, as in "leave the pdf skill out".
	leaveWords = wordSet(`leave leaving keep keeping lass lasst lassen lasse`)
	outWords   = wordSet(`out aside alone weg beiseite`)
	// fillerWords may stand before the negation that begins a clause.
	fillerWords = wordSet(`please just and or do you should must bitte und oder et ou y o por favor`)
	// addressed are words after a negation that make a question of it.
	addressed = wordSet(`you we only just nur seulement solo sólo`)
	// elisions are the French words of one sound before an apostrophe.
	elisions = wordSet(`c d j l m n qu s t`)
	// needed are words for what a skill is not, as in "the pdf skill is not needed".
	needed = wordSet(`needed necessary required wanted relevant allowed appropriate nötig notwendig erwünscht nécessaire utile necesaria necesario`)
	// obliged and used together deny a skill after a negation, as in "the pdf skill must not be used".
	obliged = wordSet(`be werden être debe deben debería`)
	used    = wordSet(`used loaded applied invoked activated utilisée utilisées utilisé chargée usarse usar utilizarse utilizar cargarse cargar`)
	// articles may stand before each name of a list.
	articles = wordSet(`the den dem der die das le la les el los las`)
)

var (
	// denseLinks may stand between a name and the word for "skill".
	denseLinks = []string{"这个", "這個", "那个", "这项", "这一", "这一个", "两个", "这两个", "这些", "のような", "という", "って", "的", "の", "は", "叫", "名为", "叫做"}
	// denseJoins stand between names.
	denseJoins = []string{"以及", "还有", "または", "和", "与", "與", "跟", "及", "或", "と", "や", "か"}
	// denseUses say that a skill is to be used.
	denseUses = []string{"使用", "用", "加载", "调用", "使って", "で"}
	// denseOwn say whose skill it is.
	denseOwn = []string{"我的", "我们的", "私の", "僕の", "自分の"}
	// denseNot before a skill, and denseNotAfter and laterNot after one, deny it.
	denseNot      = []string{"不要", "不用", "别", "別用", "不想", "不希望", "不让", "不讓", "不能", "不使用", "不必", "不需要", "无需", "无须", "勿", "禁止", "避免", "没有", "没必要", "而不是", "不是", "除了", "停止", "取消", "卸载"}
	denseNotAfter = []string{"不要", "不用", "不需要", "不必", "别用", "没必要", "不要用", "の代わり", "を避け", "は避け"}
	laterNot      = []string{"使わない", "使わず", "使うな", "使わなくて", "使用禁止", "使用しない", "使用せず", "なしで", "無しで", "抜きで", "不要", "要らない", "いらない", "いりません", "要りません", "使いません", "使用しません", "必要はありません", "必要ありません", "必要ない", "必要はない", "使ってはいけない", "使っちゃ", "ではなく", "じゃなく", "以外"}
	// denseForget turn a denial around, as in "do not forget to use".
	denseForget = []string{"忘"}
	// denseMakes before a skill, perhaps with one of denseNew, and denseMakesAfter after one are about a
	// skill that does not exist yet.
	denseMakes      = []string{"写", "寫", "编写", "创建", "創建", "新建", "制作", "开发", "做"}
	denseNew        = []string{"一个", "一個", "一项", "个", "個", "新的", "新"}
	denseMakesAfter = []string{"を作っ", "を作り", "を作る", "を作成", "をつくっ", "をつくる", "を書い", "を書く", "を開発"}
)
