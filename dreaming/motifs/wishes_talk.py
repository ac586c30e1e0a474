"""Wishes about texts, working together, screens, and what must not leave, as data."""

from __future__ import annotations

from typing import Final

from dreaming.motifs.frames import Wish
from dreaming.motifs.table import parse

TEXT: Final = parse(
    Wish,
    r"""
docs-with-change 0.75
  = (?:the |our )?(?:docs?|documentation|readme(?:\.md)?|help (?:text|system|page)|docstrings?
  = |(?:doc|inline|code) comments?|doku(?:mentation)?|документаци\w+|文档|ドキュメント|문서)
  : forgot
  / (?:docs?|readme|comments?|help|documentation) <w1>(?:is|are|still) <w1>(?:out of date|outdated
  / |wrong|stale|misleading|says?|mentions?)|fix the comments? that|always update (?:the )?(?:docs
  / |documentation|readme)|also (?:note|mention|say|document|add) .{0,50}\bin
  / \s(?:the |our )?(?:readme|docs)\b
  @ (?:do|does|did|is|are) (?:the |our |all )*(?:docs?|readme\S*|documentation|help
  @ |comments?) <w3>(?:reflect|match|mention|cover|say|up.to.date|updated|current)|(?:docs?
  @ |readme\S*|documentation|system.notes\S*) <w3>(?:too|as well|up.to.date)\b
  @ |(?<!then )(?<!now )updat\w* <w3>(?:docs?|readme|documentation|help)\b
  @ |updat\w* <w3>@?(?:\S{0,30}(?:readme|claude|agents|change-?log|notes?|plan|status|spec
  @ |roadmap)\S{0,20}\.md\b|change ?log|(?:project|master|implementation)[ -]plan)
  @ |add .{0,30}updates? .{0,30}\bto (?:the |our )?\S+\.md|reflected in (?:the[ ]
  @ |our )?docs|(?:documented|docs?) in (?:the )?(?:docs|help)|(?:ensure|make sure) <w4>(?:docs?
  @ |documentation|readme|help)|auch die dok\w+
  > comment <w4>(?:is|are) (?:misleading|wrong|stale|outdated|inaccurate)|(?:help|doc\w*
  > |docstring) .{0,60}(?:misleading|outdated|stale|does<nt> match)
  > |makes .{0,40}help.{0,10}misleading|outdated .{0,12}comment|comment (?:should be updated|says)
  - Docs, comments or help still told of the old behaviour after the code changed.
  ! Update docs, comments and command help that describe a behaviour in the same change as the
  ! behaviour.
  + does the readme reflect the changes as well? ~~ read the docs of the library
short-docs 0.7 in=docs
  @ (?:take|leave|cut|strip) .{0,40}\bout\b|\bremove (?:this|that|the (?:\w+ ){1,3}(?:section|line
  @ |part|layout|paragraph|list))\b|remove the repo layout|too (?:long|specific|verbose|detailed
  @ |wordy|much (?:detail|text))|not listing out|(?:do(?:n'?t|nt| not)) need (?:to |this|that
  @ |the ).{0,30}(?:section|mention|list|explain|preface|highlight|whole)|(?:shorter|more concise
  @ |trim)\b
  - Docs were drafted with lists, layouts and filler, and the person took them out.
  ! Keep public docs short and lasting: no inventories, repository layout, maintainer notes or
  ! explanations that a first-time reader does not need.
  + i think just take that line out completely ~~ take a look at the page
no-emojis 0.85
  = emojis?|emoticons?|эмодзи|表情(?:符号)?|絵文字|이모지
  : never excess why again
  - Emojis were put into code, docs or answers.
  ! Use no emojis in code, docs, commits or answers.
  + please no emojis in the docs ~~ add an emoji picker
no-em-dashes 0.85
  = em[- ]?dash(?:es)?|long dash(?:es)?|gedankenstrich\w*|tirets?
  : never excess why again
  - Texts were full of dashes that the person does not want.
  ! Write without em dashes; use a comma, a colon or two sentences.
  + stop using em dashes ~~ the dashboard is empty
short-answers 0.7
  / (?:too (?:long|verbose|wordy|much text)|be (?:more )?(?:brief|concise|terse|short(?:er)?)
  / |(?:short(?:er)?|brief(?:er)?) (?:answers?|replies|responses|please)|tl;?dr|stop (?:explaining
  / |summari[sz]ing|rambling)|kürzer|plus court|más corto|короче|简短|太长|短く|짧게)
  - Answers were longer than the person wants to read.
  ! Answer in a few short sentences, the result first; explain only when asked.
  + too long, be brief ~~ make the timeout longer
answer-language 0.7
  / (?:answer|reply|respond|write|speak|talk|comments?|docs?) <w3>in (?:english|german|french
  / |spanish|portuguese|chinese|japanese|korean|russian)\b|auf deutsch|en français|en español
  / |em português|по-русски|用(?:中文|英文|英语)|日本語で|英語で|한국어로|영어로
  - An answer or a text came in another language than the person wants.
  ! Answer in the person's language, and write code, comments and docs in the project's.
  + please answer in German ~~ the German translation is missing
release-notes 0.7
  = change ?log|release notes?|version (?:number|bump)|bump (?:the )?version|версию|版本号
  = |更新日志|変更履歴|변경 ?로그
  : forgot must again
  @ (?:add|put|note|mention) <w3>(?:to|in) the change ?log
  - A change went out without a version number or an entry in the changelog.
  ! Add a changelog entry and raise the version in the same change that users will notice.
  + you forgot the changelog ~~ what is in the changelog?
""",
    "writing",
)

TOGETHER: Final = parse(
    Wish,
    r"""
ask-before-changing 0.7
  / (?:ask|check with|tell|consult) (?:me )?(?:first|before)\b|(?:don'?t|do not) <w1>(?:implement
  / |code|edit|start|change|write|do)\w* <w3>(?:yet|until|before)|(?:wait|hold) (?:for|on
  / |until) .{0,20}(?:my|i |approv|confirm|ok\b)|(?:just|only|it'?s|was) (?:a|asking a
  / |an?) question|i (?:was )?(?:only|just) ask(?:ed|ing)(?! for| you| to)|without (?:asking
  / |my (?:ok|approval|permission|consent))|(?:make|show|give)\w* (?:me )?(?:a|the) plan (?:first
  / |before)|plan first|frag(?:e)? (?:mich )?(?:erst|vorher)|demande.{0,10}avant
  / |pregunta.{0,10}antes|сначала спроси|先(?:问|和我确认|给我方案)|まず(?:聞いて|確認)
  / |먼저 ?(?:물어|확인)|just answer\b|先别(?:改|动|写)
  - Changes were made where the person wanted an answer, a plan or a say first.
  ! Answer questions and show a plan first; make larger changes only after the person agreed.
  + it was just a question, ask me first ~~ ask the server for its version
do-not-stop-early 0.65
  / (?:why did you|<dont>) stop\b(?! (?:the |my |running))|you(?:'re not (?:done|finished)
  / | stopped| are not (?:done|finished)| aren'?t (?:done|finished)| did<nt> finish)|(?:finish|do
  / |fix) (?:all|everything) .{0,20}(?:without|before) stop\w*|nicht aufhören
  / |ne t'arrête pas|no pares|não pare|не останавливайся|不要停|止まらないで|멈추지 ?마
  - The work stopped before all of it was done, and the person had to push it on.
  ! Go on until everything that was asked for is done and checked; do not stop after a part to
  ! report.
  + why did you stop? ~~ stop the server
no-needless-questions 0.7
  / (?:<stop>|no need to|quit|why (?:do|are) you) (?:keep )?ask(?:ing)?\b(?! (?:about the
  / |for the))|just do it\b|(?:very|so|too) tentative|all the way through|on your own\b.{0,3}$
  / |you (?:can|may
  / |should) decide|frag nicht|ne demande pas|no (?:me )?preguntes|não pergunte|не спрашивай
  / |不要问|别问|聞かないで|묻지 ?마|(?:don'?t|do not) (?:need|have) to ask
  - The person was asked for things that were already clear.
  ! Act when the next step is clear; ask only where the answer changes what you would do.
  + stop asking me, just do it ~~ ask me a question
name-the-model 0.7
  / (?:review|analy[sz]e|do|use|ask|run|with|launch|delegate|have) .{0,40}\b(?:opus|sonnet|haiku
  / |fable|gpt-?[\w.]*|codex|gemini|grok|claude|o\d|deepseek|kimi|glm|qwen)\b.{0,40}\binstead\b
  / |wrong model|(?:not|never) (?:with |use )?(?:opus|sonnet|haiku|fable|gpt\S*|codex|gemini)\b
  / |why (?:did|are) you us\w+ (?:opus|sonnet|haiku|fable|gpt\S*|codex|gemini)\b
  - The work was stopped to have it done by another model than the one chosen.
  ! Before an expensive review or analysis say which model or agent will do it, and let the person
  ! choose another.
  + review the plans with Opus 5 instead ~~ review the plan
work-in-parallel 0.6 in=first+work+done
  = (?:in )?parallel(?:ly)?|sub-?agents?|worktrees?|parallel\w*|並列|并行|병렬
  : forgot must why
  @ (?:deploy|spawn|launch|dispatch|delegate <w2>to) <w3>(?:(?:background|sub-?|worker
  @ |parallel)[- ]?)+
  @ (?:agents?|workers?)\b|spawn <w2>agents?\b|keep the main (?:thread|agent|session) free
  - Work that an agent beside could have done was done one by one, in the main thread.
  ! Hand independent work to agents beside you, one worktree for each, and keep the main thread
  ! free.
  + why are you not using subagents ~~ the agents are parallel lines
no-needless-reruns 0.7
  / (?:don'?t|do not|no need to|stop|why do you)(?: \w+)? (?:re-?)?(?:build|run|test|start|install
  / |deploy|compile)\w*\b.{0,40}(?:every|each) (?:time|run|change|step|commit|edit)|only (?:on
  / |at) the (?:head|end)\b
  - A long build or suite was run after every small step.
  ! Run long builds and suites once at the end, not after every step; check single steps with the
  ! nearest test.
  + do not rebuild the website on every run ~~ run it every hour
clean-up 0.6
  = (?:temp(?:orary)?|scratch|left.?over|stray|test) (?:files?|folders?|processes|data|branches)
  = |mess\b|临时文件|一時ファイル|임시 ?파일
  : forgot why excess again must
  / (?:did|will) you clean ?up|clean ?up (?:after yourself|your)|you left <w4>(?:files?|running
  / |behind|processes|folder)
  - Temporary files, processes or branches were left behind.
  ! Remove the temporary files, processes, branches and worktrees you made before you report the
  ! work as done.
  + you left a stray file behind ~~ clean up the layout of the page
server-is-mine 0.75
  / (?:<dont>|stop|no need to|why (?:did|do|are) you) (?:re-?)?(?:start|run|launch|kill
  / |stop)\w* <w3>(?:server|app|dev|daemon|browser|simulator)\b|(?:server|app) is already running
  / |i(?:'ll| will)? (?:run|start|test) (?:it|the \w+) myself
  - A server or program was started that the person runs themselves.
  ! Do not start, stop or restart the person's server or program; ask them to, or use what is
  ! running.
  + don't start the dev server ~~ start the server
keep-their-edits 0.8
  / (?:why did you|don'?t|do not|you|never|stop) (?:just )?(?:revert|overw\w+|undo|undid|remov
  / |discard|chang\w* back|lost)\w* <w1>my <w1>(?:chang|edit|fix|work|commit|code|version)\w*
  / |i (?:have )?(?:changed|edited|fixed) (?:it|that|this) (?:manually|myself|by hand)
  - Changes that the person had made were undone or overwritten.
  ! Read a file again before you write it, and keep what the person changed in the meantime.
  + you overwrote my changes ~~ undo the last change
their-settings 0.75
  / (?:did you|why did you|<dont>|stop|you) (?:just )?(?:chang|updat|edit|touch|modif
  / |overwr)\w* my <w2>(?:settings?|config\w*|dotfiles|profile|\.\w+rc|environment)\b
  - The person's own settings were changed where the project was meant.
  ! Leave the person's own settings, shell and git configuration alone; change the project's files
  ! only.
  + wait did you update my editor settings? ~~ update the settings page
file-places 0.6
  / (?:wrong|better|right|different) (?:place|folder|directory|location|package)\b|(?:should
  / |must) (?:live|be|go|sit|stay) (?:in|under|inside) (?:the )?[\w./-]+ (?:folder|directory|dir
  / |package)|not (?:be )?in (?:the )?(?:root|repo root|top.level)
  / |shouldn'?t (?:\S+ ){0,4}be in (?:the|their|its|a)|(?:falscher|falschen) ordner
  / |mauvais dossier|放错|目录不对|does<nt> belong (?:here|there|in|to)
  - A file was put where it does not belong.
  ! Put a new file where its kind already lives; look at the folders before you choose a place.
  + that should live in the tools folder ~~ which folder is this?
""",
    "workflow",
)

SCREEN: Final = parse(
    Wish,
    r"""
see-it-in-browser 0.7
  = (?:in )?(?:the |a )?(?:browser|screenshots?|devtools|playwright|puppeteer|chrome)|浏览器
  = |ブラウザ|브라우저
  : forgot must why
  / (?:did|have) you <w1>(?:open|look|check|see|test)\w* (?:it |this |that |the \w+ )?(?:in|at
  / |with) (?:the |a )?(?:browser|page|screenshot|ui)|take a screenshot (?:and|to) (?:check|see
  / |verif)|try (?:and|to) run the (?:gui|ui|app)
  - A page or window was reported as done without having been looked at.
  ! Open the changed page or window, look at a screenshot and at the console, before you report it
  ! as done.
  + did you check it in the browser? ~~ open the page in a browser
small-screens 0.7
  = mobile|phones?|small(?:er)? screens?|responsive|narrow|手机|移动端|モバイル|모바일
  : forgot must again
  @ (?:on|in) (?:mobile|phones?|small(?:er)? screens?)\b.{0,50}(?:not|n't|broken|cut|overflow|off
  @ |too|wrong)|(?:broken|overflow\w*|cut off|not (?:work|fit)\w*) on (?:mobile|phones?|small)
  - A page was made for wide screens only.
  ! Check every page you change at phone width as well as on a desktop.
  + it is broken on mobile ~~ a mobile app
dark-mode 0.7
  = dark ?(?:mode|theme|scheme)|light and dark|dunkelmodus|mode sombre|modo oscuro|modo escuro
  = |тёмн\w+ тем\w+|深色模式|暗黑模式|ダークモード|다크 ?모드
  : forgot must again
  @ (?:dark|light) (?:mode|theme)\b.{0,60}(?:n't|broken|wrong|unreadable|invisible)|(?:unreadable
  @ |broken|wrong|invisible|ugly) in (?:the )?dark
  - A page was right in one colour scheme only.
  ! Check every change of the screen in both the light and the dark scheme.
  + still unreadable in dark mode ~~ add a dark mode
accessible-screens 0.7
  = accessib\w+|a11y|aria\b|screen ?readers?|keyboard (?:navigation|focus)|contrast
  = |barrierefrei\w*|无障碍|tool-?tips?
  : forgot must again
  @ (?:all|every|each) .{0,40}(?:have|has|get) tool-?tips?|add tool-?tips? to (?:all|every|each)
  - A page could not be used by keyboard, reader or weak eyes.
  ! Give every control and menu item a label, a tooltip, a visible focus and enough contrast, and
  ! try it by keyboard.
  + you forgot accessibility ~~ make the file accessible to the group
""",
    "ui",
)

SAFETY: Final = parse(
    Wish,
    r"""
no-secrets 0.8
  / (?:never|<stop>|must not|why did you) <w2>(?:commit|print|log|push|show|expos|hard-?cod|put
  / |shar|leak|includ|stor|writ|paste)\w* .{0,25}\b(?:secrets?|api ?keys?|tokens?|passwords?
  / |credentials?|\.env\b)|(?:secret|token|key|password)s? .{0,30}(?:leaked|exposed|in the (?:repo
  / |log|commit))|(?:不要|别).{0,8}(?:密钥|密码)|パスワードを.{0,8}ない|leak(?:ed
  / |ing) <w2>(?:secret|api ?key|token|password)
  - A key, token or password was about to be shown, logged or committed.
  ! Never write keys, tokens or passwords into files, logs, commits or answers; read them from the
  ! environment.
  + never print the api key ~~ the token limit is reached
no-private-data 0.8
  = (?:sensitive|personal|private|real|customer|client|production|user) (?:data|info\w*|names?
  = |paths?|emails?|details)|pii|persönliche daten|données personnelles|datos personales|敏感信息
  = |个人信息|個人情報|개인 ?정보
  : never why
  / (?:this is|it'?s|since it'?s|because .{0,12}) (?:an? )?public repo
  - Real names, paths or data of people were about to be published.
  ! Use invented names, paths and data in examples, tests and docs; nothing of real people or
  ! machines.
  + as always never push sensitive data ~~ load the real data
no-destruction 0.85
  / (?:<dont>|why did you|you just) (?:ever )?(?:delet|drop|wip|truncat|destroy|eras
  / |rm -rf)\w* <w3>(?:database|data|db|tables?|branch\w*|folder|production|everything|files)
  / |(?:<dont>) (?:touch|run .{0,20}on|deploy to|change) (?:the )?prod\w*
  - Data was deleted, or about to be, without the person's word.
  ! Never delete data, databases or branches, or touch production, before the person confirmed
  ! exactly that.
  + never touch production ~~ delete the branch
""",
    "safety",
)
