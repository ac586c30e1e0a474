"""Wishes about code and about git, as data."""

from __future__ import annotations

from typing import Final

from dreaming.motifs.frames import Wish
from dreaming.motifs.table import parse

CODE: Final = parse(
    Wish,
    r"""
no-duplicates 0.75
  = duplicat\w+|copy.?paste\w*|re-?invent\w*|replication|doppelt\w*|dupliqu\w+|duplicad\w+
  = |дублир\w+|重复|重複|중복
  : never why again must excess
  / \bconsolidate\b|(?:use|reuse|re-use) the (?:existing|same|shared) <w2>(?:helper|function
  / |component|util\w*|class|method|code|logic|hook|constant)|we already have <w3>(?:code|helper
  / |function|component|util\w*|something|class|method|hook|script) |(?:already|same) (?:logic
  / |code|function|helper) (?:exists?|in|as)|less (?:code|logic|duplicat\w+)|wiederverwende\w*
  / |(?:this|it|that) duplicates|there(?:'s| is) already an? <w1>(?:function|helper|method|class)
  / |(?:extract|factor|pull|move) <w3>(?:out )?in(?:to)? (?:an? )?(?:shared|common|helper)
  > duplicat(?:es?|ed|ing|ion) (?:of )?(?:the |an? |existing )*\w+|near.identical
  > |same logic (?:is )?(?:in|as|exists|repeated)|(?:two|multiple) places|single source of truth
  - New code repeated logic or helpers that the project already had.
  ! Search for an existing helper, constant or component before you write one, and share one where
  ! the same logic would stand twice.
  + any chance we can consolidate this code? ~~ we have two tests
no-dead-code 0.7
  / (?:is|are) .{2,60} (?:still|even|actually|really) (?:used|needed|called|necessary)|dead code
  / |no longer (?:used|needed)|(?:nobody|nothing|no one) (?:uses|calls) |(?:remove|delete
  / |clean ?up|drop) (?:the |all |any )*(?:unused|dead|obsolete|left.?over)|toter code|code mort
  / |código muerto|мёртвый код|死代码|没用的代码|未使用|안 ?쓰는|do (?:we|you) (?:still|even
  / |really) need (?:this|that|the|it)|you left the (?:old|unused)
  > dead code|never (?:called|used|read|referenced)|(?:is|are) (?:now )?unused
  > |only used in (?:unit )?tests|superseded|no (?:longer|remaining) (?:used|callers|references)
  - Code that nothing uses any more was left in the change.
  ! After a refactor search for callers, and delete functions, imports, options and files that
  ! nothing uses any more.
  + is that helper still used now? ~~ the port is used by the server
no-debug-leftovers 0.7
  = console\.log\w*|debug(?:ging)? (?:output|prints?|statements?|logs?|code)|print statements?
  = |commented.out code|todos?|debug-ausgaben|调试(?:代码|输出|日志)|デバッグ|디버그 ?로그
  : forgot never why again excess
  / you left <w3>(?:console|print|debug)|(?:remove|drop|delete) (?:the |all |your )*debug
  - Debug output, notes or commented-out code were left in the change.
  ! Take debug output, commented-out code and scratch notes out of a change before you report it as
  ! done.
  + you left out nothing, but please get rid of the debug output ~~ add a todo app
no-swallowed-errors 0.8
  / swallow\w*|silent(?:ly)? (?:fail|ignor|return|skip|drop|catch|continu|fall)\w*|empty catch
  / |(?:<dont>|stop|why do you) (?:ignor|hid|suppress|catch)\w* <w1>(?:errors?|exceptions?
  / |failures?)|fehler (?:nicht )?verschluck\w*|吞掉|握りつぶ|삼키|why (?:are|do) you catch
  > silently <w1>(?:fail|return|ignor|swallow|drop|skip|continu|discard)\w*|swallow\w*
  > |returned without <w1>context|errors? (?:is|are) (?:ignored|discarded|lost|not (?:logged
  > |handled|checked|returned))|wrapp?(?:ing|ed)? (?:this|the) error|consider logging
  - New code went on or returned nothing when a step failed, with no word of it.
  ! Log every skipped or failed step with its context, or return the error wrapped; never swallow
  ! it.
  + you silently ignore the failure here ~~ log in with your account
no-overengineering 0.7
  / over-?(?:engineer|complicat|kill|think)\w*|over complicated|(?:too|way too|so) (?:complex
  / |complicated|much code|fancy)|(?:keep|make) (?:it|this) simpl\w+|\bkiss\b|\byagni\b
  / |simpler (?:way|solution|approach|version)|zu kompliziert|trop (?:compliqué|complexe)
  / |demasiado complejo|слишком сложно|太复杂|过度设计|複雑すぎ|너무 ?복잡|(?:can|could)(?:'?t
  / | not) (?:we|you|i|it) just\b|why not just\b
  - More was built than was asked for: options, layers, cases that nobody needs.
  ! Build the simplest thing that does what was asked; no options, layers or fallbacks for cases
  ! that nobody has.
  + this is over-engineered, keep it simple ~~ a simple question
no-backward-compat 0.85
  = back(?:ward)?s?[- ]?compat\w*|legacy (?:support|code|paths?|fallback)|shims?|deprecat\w+
  = |rückwärtskompat\w*|rétrocompat\w*|retrocompat\w*|обратн\w+ совместим\w+|向后兼容|后向兼容
  = |後方互換|하위 ?호환
  : never excess why
  / (?:<dont>) keep (?:the )?old
  - Old forms were kept working although nobody needs them.
  ! Change things outright: no shims, aliases, deprecated paths or migrations for old forms unless
  ! they are asked for.
  + and we don't need backward compatibility ~~ is this backward compatible?
no-placeholders 0.7
  = placeholders?|stubs?|stubbed|fake(?:d)? (?:data|values?|responses?)|(?:mock|dummy
  = |hard-?coded) (?:data|values?|responses?|implementation\w*)|simulated|占位|假数据|モックデータ
  = |더미
  : never why excess again
  - A stub, mock or placeholder stood where working code was asked for.
  ! Write the working thing, not a stub, mock, placeholder or hard-coded answer; say so first where
  ! that is not possible.
  + why did you use mock data here ~~ add a placeholder to the search field
no-hard-coded-values 0.7
  / (?:<dont>|why (?:is|are|did)|stop|no|not) .{0,30}hard-?cod\w+|magic (?:numbers?|strings?)
  > hard-?coded|magic (?:number|string)
  - A value was written into the code that has a constant or a setting.
  ! Take paths, numbers and names from the setting or constant that holds them instead of writing
  ! them into the code.
  + why is the port hardcoded? ~~ the hard part is coded
no-suppressions 0.75
  = (?:ts-|type: ?|eslint-)?ignore comments?|@?ts-ignore|type: ?ignore|eslint-disable|nolint|noqa
  = |as any|`any`|any types?|suppress(?:ion)?s?
  : never why excess again
  / (?:<dont>) use `?any`?$|can'?t just ignore|(?:<dont>) (?:just )?(?:ignore|silence) the
  - A check was silenced in place of fixing what it found.
  ! Fix what a linter or type checker finds; do not silence it with ignore comments, `any` or a
  ! looser configuration.
  + never use ts-ignore here ~~ add build to the ignore file
stay-in-scope 0.75
  / (?:i|we) (?:did<nt>|never) (?:ask|tell|want) (?:you |for |to )*(?:to )?(?:chang|add|remov
  / |refactor|touch|rewrit|fix|renam|creat|do|that|this)\w*|out of scope|(?:why did|who (?:told
  / |asked)) you (?:to )?(?:chang|add|remov|refactor|touch|rewrit|renam|delet)\w*|(?:don'?t
  / |do not) (?:touch|change|refactor) (?:any(?:thing)?|other|unrelated|what|the rest)
  / |unrelated changes?|only (?:change|touch|do) what|nur das (?:ändern|machen)|das habe ich nicht
  / |je n'ai pas demandé|no te pedí|não pedi|я не просил\w*|没(?:有)?让你|不要改其他|頼んでいない
  / |(?:시키지|요청하지) ?않|i only (?:asked|wanted|said|meant)\b
  - Things were changed that nobody had asked for.
  ! Change only what was asked for; report other finds instead of fixing them on the way.
  + I didn't ask you to refactor that ~~ touch the file to update its time
no-extra-files 0.75
  / (?:<dont>|stop|why (?:did|do|are) you|no need to|no more) (?:creat|writ|mak|generat|add
  / |leav)\w* <w4>(?:\.?md|markdown|summar(?:y|ies)|reports?|readmes?|scripts?|docs?|documents?
  / |extra|new|backup|temp\w*) ?(?:files?|documents?|scripts?)?\b|(?:don'?t|do not) (?:want
  / |need) <w2>(?:summary|report|extra|new) files?|no (?:new|extra|additional) files
  - Files were written that nobody had asked for: summaries, reports, scripts, copies.
  ! Write no summary, report, plan, script or copy of a file that was not asked for.
  + stop creating summary files ~~ create a README file
comments-that-help 0.7
  = comments?(?! (?:of|by|from|on) )|kommentare?|commentaires|comentarios|комментари\w+|注释
  = |コメント|주석
  : never excess
  - Comments were written that repeat the code or tell its history.
  ! Write a comment only for what the code cannot say; none that repeats the line or tells what
  ! changed.
  + remove all the obvious comments ~~ reply to the comments of the review
no-generated-edits 0.75
  = generated (?:files?|code|\w+)|<w1>migrations?(?: files?)?(?: by hand| manually)|lock ?files?
  = |自动生成的|生成(?:ファイル|されたファイル)|생성된
  : never why
  / (?:is|are|file was) generated(?:,| by| from| with|\b.{0,20}(?:by hand|manually))
  / |generate (?:the |a )?migrations?\b.{0,30}(?:instead|with|using)|(?:don'?t|never) (?:write
  / |edit) <w2>migrations?|(?:use|run) the <w2>generator
  - A generated file or migration was edited or written by hand.
  ! Change the source and run the generator; never edit generated files or write migrations by hand.
  + don't edit the generated files ~~ generate a password
no-new-dependencies 0.8
  = (?:new |extra |another |more |third.party |external )?(?:dependenc(?:y|ies)|packages?
  = |librar(?:y|ies)|modules?)|abhängigkeit\w*|dépendances?|dependencias?|зависимост\w+|依赖
  = |依存(?:関係|ライブラリ)?|의존성
  : excess why
  / (?:<dont>|stop|no|without) (?:add|install|introduc|us)?\w* ?(?:any |a )?(?:new|extra
  / |additional|external|third.party) (?:dependenc|packag|librar)\w+
  - A dependency was added that nobody had asked for.
  ! Ask before you add a dependency; use the standard library or what is there already.
  + don't add any new dependencies ~~ which packages does it need?
""",
    "code",
)

GIT: Final = parse(
    Wish,
    r"""
no-unasked-commits 0.9
  / (?:<dont>|stop|did<nt> (?:ask|tell|want) you to|why did you|who told you to|please no
  / |shouldn'?t have) (?:want (?:to|ot) )?(?:auto-?)?(?:commit|push|merg)(?:ed|ing|e
  / |ting)?\b(?=\W*(?:$|it\b|that|this|yet|until|unless|without|any|before|changes|code|to\b|on\b
  / |the\b|my\b|or\b|and\b|doc|again|for me|so\b|automatically|when))|without (?:my |asking|me[ ]
  / |permission).{0,20}(?:commit|push)|(?:commit|push) <w1>without (?:my|asking|permission)|(?:ask
  / |wait) (?:me )?(?:for \w+ )?before (?:you )?(?:commit|push|merg)\w*|(?:commit
  / |push)\w* (?:only when|unless) (?:i|told|asked)|nicht (?:committen|pushen)|ne (?:commit
  / |push)\w* pas|no (?:hagas|haga) (?:commit|push)|não (?:faça|dê) (?:commit|push)|не (?:коммить
  / |пушь|делай коммит)|(?:不要|别)(?:自动)?(?:提交|推送|commit|push)|勝手に(?:コミット|プッシュ)
  / |(?:커밋|푸시) ?하지 ?마
  - Work was committed or pushed before the person wanted it.
  ! Do not commit, push, merge or open a pull request until the person asks for it.
  + why did you commit that? never push without asking ~~ commit and push
no-ai-attribution 0.9
  = co-?author\w*(?:[- ]by)?(?: lines?| trailers?)?|generated (?:with|by) (?:claude|ai|codex
  = |copilot)|(?:claude|ai|anthropic|codex|copilot) (?:attribution|signature|mention|credits?
  = |footer|as (?:an? )?(?:co-?)?author)|mentions? of (?:claude|ai|anthropic|codex)
  : never excess why forgot again
  / (?:remove|no|without) <w3>(?:co-?author|claude|ai) ?\w* ?(?:lines?|trailers?|attribution
  / |footers?|mentions?)|(?:<dont>) mention (?:claude|ai|anthropic|codex|yourself)
  - Commits or texts named the assistant as their author.
  ! Leave every mention of the assistant out of commits and pull requests: no co-author line, no
  ! 'generated with'.
  + don't add a co-authored-by line ~~ Claude, open the file
commit-message-form 0.75
  / commit (?:message|title|subject|msg)s?\b.{0,50}(?:should|must|too long|short|wrong|format
  / |convention|prefix|style|not|only|without)|(?:use|follow
  / |with) (?:the )?(?:conventional commits?|our commit)|(?:wrong|bad|shorter
  / |one.line) commit messages?|gitmoji|提交信息|コミットメッセージ|커밋 ?메시지|commit-nachricht
  - A commit message did not have the form that the project uses.
  ! Write commit messages in the form of the last ones in `git log`: same prefix, length and mood.
  + the commit message should be one line ~~ commit with a good message
small-commits 0.7
  / (?:split|break) <w4>into <w5>commits|(?:squash|fold)\w* <w4>into <w4>commits?\b|(?:series
  / |sequence) of <w3>(?:commits|changes)\b|(?:small|atomic|separate|individual)(?:er)? commits
  / |(?:own|separate|different) commit\b|one commit per|commit (?:them )?(?:separately
  / |individually|one by one)
  - Unlike changes stood in one commit.
  ! Make one commit for each logical change, and fold fixes into the commit they belong to.
  + please split this into separate commits ~~ show the last commit
commit-as-you-go 0.7
  / (?:are|have) you (?:been )?committ?(?:ing|ed) .{0,30}(?:as|go|along|changes|so far)
  / |commit <w2>(?:as (?:you|we) go|often|after (?:each|every)|frequently|regularly)
  / |commit changes as each|commit\w* .{0,40}(?:before (?:moving|going) on|once (?:the|each) \w+ is)
  - Much work stood uncommitted, and the person had to ask for it.
  ! Commit each finished step as soon as its tests pass, without waiting to be asked.
  + are you committing changes as we go? ~~ commit
carry-through 0.7 in=done+commit
  / (?:resolve|fix|handle) <w3>merge (?:issues|conflicts?)\b.{0,30}(?:on your own|yourself)
  / |(?:commit|push|merge)\b.{0,60}\bwithout (?:waiting|being (?:asked|told))|(?:you|i) (?:can
  / |may|should) (?:just )?(?:merge|push) (?:it|this|directly)
  @ (?<!n't )(?<!not )(?<!never )(?<!why )(?:push|merge) (?:it |this |them )?directly\b|(?:push|pr
  @ |pull request)\b.{0,40} (?:and|then) merge\b|\bmerge all\b|push everything\b|why (?:is|are
  @ |was) <w3>(?:not|n't) (?:committed|pushed|merged)|you (?:still )?(?:have<nt>|did<nt>) (?:commit
  @ |push|merg)\w*|(?:can|could|would) you (?:please |also )*commit (?:your|the|all|these)\b
  - Work was reported as done while it was not committed, pushed or merged, and the person had to
  - ask for it.
  ! Carry a finished change through without being asked: commit, push, open the pull request where
  ! one is needed, resolve conflicts, merge.
  + please push directly to main ~~ don't push directly to main
pull-request-text 0.7 in=first+work+done+commit
  @ (?:update|fix|rewrite|rework) (?:the )?(?:title|messages?|descriptions?|body
  @ |text)(?: (?:and|or) <w1>\w+)? of the (?:pr|pull request)|updat\w* (?:the |this
  @ |our )?(?:pr|pull request)(?: (?:title|descriptions?|body|text|messages?)|$| with\b
  @ | to reflect)|(?:pr|pull request) (?:title|descriptions?|body|text)\b.{0,40}(?:out of date
  @ |outdated|stale|wrong|still (?:says?|mentions?))
  - A pull request still told of an earlier state after its commits had changed.
  ! Update title and text of a pull request whenever its commits change what it does.
  + update the title and message of the pr ~~ open a pull request
one-subject-per-request 0.75 in=first+work+done+commit
  @ (?:separate|own|different|independent) (?:clean )?(?:prs?|pull requests?)\b
  @ |extract\w* into <w4>(?:branch
  @ |pr|pull request)\b|one (?:pr|pull request) (?:per|for each)|split <w4>into <w3>(?:prs|pull
  @ \srequests)|(?:not|n't) belong in this (?:pr|pull request|branch)
  - Changes that have nothing to do with each other stood in one pull request.
  ! Put work that stands alone into a branch and a pull request of its own, based on the current
  ! main branch.
  + that should be a separate PR ~~ open the PR
branch-first 0.8
  / (?:never|don'?t|do not|not|why (?:did|are|is) (?:you|it|this)|stop) .{0,30}(?:on|to
  / |into) (?:the )?(?:main|master|develop|default)\b|(?:wrong|own|new|separate
  / |feature) branch (?:first|please|instead|again|for (?:this|that|each))|(?:forgot|never|always
  / |must) .{0,30}\bbranch\b|nicht auf (?:main|master)|pas sur (?:main|master)|不要在(?:main
  / |master|主分支)|you(?:'re| are) on (?:main|master)\b|should(?:'ve| have) (?:created|made
  / |used) an? <w1>branch
  - Work was done on the main branch, or on the wrong one.
  ! Make a branch before the first edit; never commit or push to the main branch directly.
  + never commit to main directly ~~ push directly to main
sync-first 0.7
  / (?:did(?:n'?t)? you|you (?:forgot|did<nt>|must|have|need)|always|again) .{0,20}(?:pull|rebase
  / |fetch|sync)\b|(?:not|isn'?t|out|aren'?t) (?:up.to.date|of date|in sync) (?:with|on)
  / |github is flagging merge conflicts|merge conflicts? again|behind (?:main|master|origin)\b
  / |branch is (?:out of date|behind|outdated|stale)|(?:bring|get|updat\w*) (?:this|the|your|my
  / |it)\b
  / <w4>(?:up.to.date|to (?:the )?(?:current|latest))|merg(?:e|ing) (?:main|master|develop
  / |origin\S*) (?:in)?to
  / |rebase (?:it |this )?(?:on|onto|against) <w1>(?:main|master|develop|origin)
  - Work began on a checkout that was behind the remote.
  ! Fetch and rebase on the main branch before you start and before you push.
  + bring it up to date, github is flagging merge conflicts ~~ pull the latest
stage-own-files 0.8
  / git add (?:-a\b|--all|\.)|accident\w+ (?:commit|add|includ|stag)\w*|(?:commit|stag|add
  / |includ)\w* <w3>(?:stray|scratch|unrelated|unwanted|temp\w*|wrong) <w1>files?|only (?:stage
  / |commit|add) (?:the |your |what |files you)|(?:why (?:is|are|did)|shouldn'?t) .{0,40}\b(?:in
  / |part of) (?:the|this|that) commit|don'?t (?:want|stage|include|add) .{0,30}(?:in
  / |to) the commit|(?:<never>) git add (?:everything|all)
  > accident\w+ (?:commit|includ|stag)\w*
  - Files that do not belong to the change were committed with it.
  ! Stage files by explicit path, never with `git add -A` or `git add .`, and keep scratch files
  ! outside the repository.
  + you accidentally committed two scratch files ~~ add the image to the readme
no-stash-in-shared-tree 0.85
  = (?:git )?stash(?:ed|ing)?|(?:git )?reset (?:--)?hard|git clean|git (?:checkout
  = |restore) (?:--? )?\.|force.?push\w*|push --?force\w*
  : never why again
  / you (?:stashed|force.?pushed|reset)\b
  - Work of others was swept away by a stash, reset, clean or forced push.
  ! Never run `git stash`, `reset --hard`, `checkout .`, `clean` or a forced push where others work
  ! in the same tree or branch.
  + never use git stash here ~~ stash it
no-skipped-hooks 0.85 in=stopped
  = --?no-?verify|(?:pre-?commit )?hooks?
  : never why
  / (?:skip|bypass|circumvent|ignor)\w* <w2>hooks?|main was clean|fix (?:all |the )*(?:issues
  / |errors|findings)\W+(?:don'?t|even|also) .{0,20}(?:skip|not yours|touch)
  - A commit was to go around the hook that had rejected it.
  ! Never go around a commit hook with --no-verify; fix what it reports, also in files you did not
  ! touch.
  + don't use --no-verify ~~ how do hooks work here?
close-after-commit 0.7
  / (?:<dont>|why did you|shouldn'?t) <w1>(?:clos|resolv|mark)\w* <w3>(?:issue|ticket|task|bead|pr
  / |thread|done|complete)\w*|(?:closed|marked) .{0,30}but .{0,30}(?:not|n't) (?:committed|merged
  / |done|pushed|working)
  - An issue or task was closed before its work was committed and checked.
  ! Close an issue or task only after its commit has passed every hook and check.
  + why did you close the issue, it is not merged ~~ close the dialog with escape
""",
    "git",
)
