"""Wishes about tests, proof and facts, as data."""

from __future__ import annotations

from typing import Final

from dreaming.motifs.frames import Wish
from dreaming.motifs.table import parse

TESTING: Final = parse(
    Wish,
    r"""
tests-with-change 0.85
  = (?:unit|integration|e2e|regression) ?tests?|tests|test (?:cases?|coverage)|coverage|specs
  = |tests unitaires|pruebas|testes|тест\w*|测试|テスト|테스트
  : forgot why
  / \b(?:untested|not (?:adding|writing) tests|no tests? (?:for|on)
  / |without (?:any )?tests?\b.{0,20}\?)|(?:don'?t|does<nt>|do<nt>) have (?:any )?tests?\b
  / |always (?:add|write|include) <w1>tests|\b(?:this|it|that) (?:still[ ]
  / |also )?needs? <w2>tests?\b
  @ \b(?:add|writ|creat|includ|extend|cover)\w* <w5>(?:tests|test cases?|coverage|an? <w3>test
  @ |(?:unit|integration|regression|e2e) test)\b(?! (?:skill|page|file|folder|button|data))|(?:^
  @ |\b(?:ok|okay|and|so|but|hmm|also|wait|yes)\W+)(?:are|is|do|does|have|has
  @ |were) (?:\S+ ){0,6}(?:tests|a test|test coverage|covered)\b|(?:and|our|the|also) tests (?:are
  @ |too|as well)|\btests (?:too|as well)|tests? (?:auch|noch)|(?:加|补|写)\w{0,4}测试|テスト(?:も
  @ |を追加)|테스트(?:도| ?추가)|добавь тест\w*|(?:ajoute|añade|adicione) .{0,12}tests?
  > (?:no|missing|lacks?|without) <w2>tests? (?:coverage|cover|for|exists?)
  > |not covered by (?:any )?tests?|(?:add|missing) (?:a |unit |test )*(?:tests?|coverage) for
  - Work was reported as done without a test for it, and the person had to ask.
  ! Add or extend a test of the new behaviour in the same change, before you report it as done.
  + do we have test coverage for this? ~~ the tests pass, go on
whole-suite 0.75 in=done
  = (?:full|whole|entire|complete|integration|e2e|end.to.end) (?:test )?(?:suite|tests)
  = |all (?:the |of the )?tests|test suite|ganze testsuite|toute la suite|全部测试|所有测试
  = |全テスト|전체 테스트|все тесты
  : forgot
  / always run (?:the |all )*<w1>(?:tests|suite)|did you (?:even |actually )?run (?:the |all[ ]
  / |any )*<w1>(?:tests?|suite)|tests? (?:task )?(?:is|are|keeps?) (?:still )?<fails>
  / |\btest:\S+ (?:is|are|still) fail|shows? .{0,30}<fails> in .{0,20}tests
  / |\btests (?:still )?fail(?:ed)?\b|\d+ failing tests?
  # ^\s*-+ FAIL: |^FAILED \S+::|=+ FAILURES =+|^\s*Tests?: +\d+ failed
  - Work was called green, and then a person brought a test that failed.
  ! Before you call a change done, run the whole test suite, integration tests too, and deal with
  ! every failure instead of calling it unrelated.
  + npm run test:ci is failing ~~ run the tests
lint-before-done 0.7
  = lint(?:er|ing|s)?|format(?:ter|ting|ted)?|type ?check(?:s|er|ing)?|prettier|eslint|gofmt|ruff
  = |mypy|clippy|линтер\w*|格式化|リント|린트
  : forgot must why
  / did you (?:even )?(?:run )?(?:the )?(?:lint|format)|lint(?:er|ing)? (?:is |are |has |still[ ]
  / |now )*<fails>|(?:fix|deploy .{0,30}fix)\w* (?:the )?lint(?:er|ing)? err
  / |except (?:for )?(?:the )?lint|^\S+\.\w+:\d+:\d+: [\w-]+: |lint(?:er|ing)? (?:is[ ]
  / |still )*complain\w*|(?:there are|still|i get|we have) <w1>(?:type|lint|format\w*) errors
  / |run (?:the )?(?:lint\w*|type ?check\w*|format\w*|prettier|ruff) <w2>before
  - Work was reported as done while the linter or the formatter still complained.
  ! Run the project's linter, formatter and type check on what you changed before you report it as
  ! done or commit it.
  + lint is still failing ~~ which linter does this use?
watch-ci 0.7
  = (?:the )?ci (?:run|status|checks?|result)
  : forgot must
  @ (?<!:)\b(?:ci|pipeline|github actions?|workflow|badge|build status)\b.{0,50}?\b<fails>
  @ |<fails> <w3>(?:in|on) (?:the )?ci\b|\bci\b.{0,30}\b(?:pedantic|unhappy|complain\w*)
  # runner version: '|^Error: Process completed with exit code|^##\[error\]|/_work/|/home/runner/
  - Work was reported as ready while CI failed on it, and the person had to say so.
  ! After a push, watch the CI run to its end, read the log of what failed and fix it before you
  ! report the work as ready.
  + why is this happy locally but failing in ci? ~~ add a CI job for docs
hermetic-tests 0.7
  / tests? (?:should |must )?(?:run|use|write|create)s? in(?:to)? (?:a |the )?(?:temp|tmp)
  / |tests? .{0,40}(?:depend|rel(?:y|ies)) on .{0,30}(?:current|home|cwd|machine|local|order
  / |network|real)|tests? .{0,40}(?:pollut|touch|modif|overwr|writ)\w+ .{0,25}(?:real|my|home
  / |global)|test.{0,30}blowing up on ci
  > non-?hermetic|tests? .{0,60}(?:depends?|rel(?:y|ies)) on .{0,40}(?:current|working dir|home
  > |environment|order|network)
  - A test leaned on the checkout, the current folder or what only this machine has.
  ! Make each test hermetic: its own temporary folder, explicit paths, nothing from the current
  ! folder, the home folder or this machine.
  + hmm, but these tests run in a temp repo? ~~ put the fixture beside the tests
tests-that-prove 0.7
  / tests? (?:are |is |that )?(?:just|only) (?:test|check|assert|verif)\w*|does (?:it|this
  / |that) (?:test )?(?:really|actually) test|not so useful .{0,20}tests?
  / |tests? .{0,20}do(?:es)?<nt> (?:really |actually )?(?:test|check|prove|assert)|useless tests?
  / |(?:too many|don'?t|stop|no) <w1>mock(?:s|ing)\b
  / |tests? (?:that )?(?:only )?test (?:the )?mocks?
  - A test was written that would pass whatever the code does.
  ! Write tests that run the real path and fail without the change, not tests of mocks, getters or
  ! of the code's own wording.
  + those tests are just testing that writing the file works... ~~ the tests are just fine
keep-tests-strict 0.85
  / (?:<dont>|why did you|you|stop|shouldn'?t)(?: just)? (?:skip|delet|remov|disabl|weaken
  / |comment(?:ed|ing)? out|relax|loosen|xfail)\w* <w3>(?:tests?|assert\w*|specs?)\b|(?:fix
  / |change) the code,? (?:and )?not the tests?
  - A test was skipped, loosened or removed so that it would pass.
  ! Fix the code when a test fails; do not skip, loosen or delete the test without saying so first.
  + why did you skip the failing tests ~~ delete the test folder of the old module
""",
    "testing",
)

PROOF: Final = parse(
    Wish,
    r"""
look-before-claiming-git 0.8 in=done+commit
  @ uncommitted (?:files?|changes|edits|work)|(?:is|are|still) uncommitted|changes in (?:our|my
  @ |the) working (?:copy|tree)|(?:not|nothing|never|isn'?t|wasn'?t|aren'?t) <w1>(?:committed
  @ |pushed|staged)|(?:did you|you did<nt>) (?:actually |really |even )?(?:commit|push)|(?:don'?t
  @ |didn'?t|can'?t) (?:see|find) (?:it|the|that|them|your|any)(?: \w+){0,4} commit
  @ |wrong (?:commit|branch|sha)|you said it'?s (?:pushed|committed|merged)|(?:is|are
  @ |'s) not (?:on|in) (?:the|my|that|origin) ?<w1>(?:branch|remote|commit)\b
  - Changes were said to be committed or pushed, or a commit was named, unchecked.
  ! Run `git status` and `git log` (or `git show`) before you say that something is committed or
  ! pushed, or name the commit that holds it.
  + hm, I see four uncommitted files? ~~ commit and push
show-proof 0.6
  / (?:did|have) you (?:really|actually|even|truly) (?:test|check|verif|run|tr[iy]|look)\w*
  / |you (?:said|claimed|told me) .{3,80}\bbut\b|that'?s (?:simply )?not true|you (?:did<nt>
  / |never) (?:actually |even )?(?:test|check|verif|run|tr(?:y|ied))\w*|(?:stop|don'?t) (?:claim
  / |say|assum)\w* (?:it|that|things?|you).{0,40}(?:work|fixed|done|without)
  / |hast du (?:das )?(?:wirklich )?(?:getestet|geprüft)|as-tu (?:vraiment )?(?:testé|vérifié)
  / |¿?lo (?:probaste|verificaste)|ты (?:это )?(?:проверил|тестировал)|你(?:测试|验证|检查)(?:过
  / |了)|(?:テスト|確認)しましたか|(?:테스트|확인) ?했|(?:did|have) you (?:test|verif)\w* (?:it
  / |this|that|them|if|whether|the (?:fix|change))\b
  - Something was said to be done, tested or fixed that had not been checked.
  ! Run the check and quote its output before you say that something works, is fixed or is tested.
  + did you actually test this? ~~ verify the checksum
prove-it-in-place 0.6 in=work+done+commit
  # ^Traceback \(most recent call last\):|^(?:[\d.]+ )?npm (?:ERR!|error)[ ]
  # |^[❯➜] \S+[^\n]*\n(?:[^\n]*\n){0,40}?Error:
  @ \b(?:i|we) (?:still |just )?(?:do<nt>|ca(?:n'?t|nnot)|did<nt>|never) <w1>(?:see|saw
  @ |find)\b(?! (?:why|how|(?:the|any|a) (?:point|reason|need|problem|issue|value)))
  @ |nothing (?:happens|changed|shows)|(?:still|also) (?:(?:not|isn'?t|doesn'?t) \w+|broken|fails?
  @ |the same|there|an issue|happens)|(?:does<nt>|did<nt>|isn'?t|not) (?:seem to )?work(?:ing)?\b
  @ |exits? immediately|(?:is|are|seems?|looks?) (?:now |still |to be )*broken|(?:you
  @ |something) broke\b|funktioniert (?:immer noch )?nicht|ne (?:marche
  @ |fonctionne) (?:toujours )?pas|no funciona|não funciona|не работает|还是不行|不起作用|没有效果
  @ |動かない|動きません|안 ?(?:돼|되|나와)|same (?:error|problem|issue|result)\b(?! (?:in|on|for
  @ |with))|(?:still|again) (?:get|see)(?:ting|ing)?\b|not fixed|does nothing|crash(?:es|ed)\b
  @ |(?:did|does)<nt> (?:fix|help|solve|change)\b|geht (?:\w+ )*nicht|marche (?:toujours[ ]
  @ |encore )*pas|sigue sin|todavía no|还是(?:报错|不|有)|仍然|まだ|여전히
  - Work was reported as done, and it did not work or show up where it is used.
  ! Use the finished thing as its user will (start it, load it, open the page) before you report it
  ! as done; tests alone do not show it.
  + nope I don't see it in the editor ~~ does it work with two files?
check-facts 0.75
  / (?:made?|making) (?:it|this|that|these|them|things|stuff) up|(?:made|make)[ -]up (?:the|an?
  / |names?|options?|flags?)|hallucinat\w+|what(?:'?s| is) (?:the|your) source
  / |where did you (?:get|find|read) (?:that|this|it)|(?:does|is) (?:that|this) <w1>(?:really
  / |actually|even) (?:exist|real|supported|a thing)|(?:that|this|option|flag|command|function
  / |field|method|api|setting) (?:do(?:es)?<nt>) (?:even |actually )?exist\b|are (?:they|these
  / |those|it) not real|(?:can you|please) double[- ]?check (?:that|if|whether)|(?:stop|don'?t
  / |no) (?:guess|invent|assum)(?:ing|e)?\b|is<nt> that what .{3,50} (?:does|is for)|(?:check|read
  / |look at) the (?:actual |real |source )?(?:code|source|docs?|documentation
  / |--help)\b.{0,20}(?:first|before|instead|again|of|at)|ausgedacht|erfunden|inventé|inventaste
  / |inventou|выдумал\w*|瞎编|编造|でっち上げ|지어내|are you (?:really |absolutely )?sure\b|(?:not
  / |n'?t think (?:that|this)(?:'s| is)) an? real\b|no such (?:command|option|flag|function|method
  / |api|setting)
  - An option, a name or a fact was stated from memory, and was wrong or made up.
  ! Check an option, name, command or API against its docs, source or --help before you write it
  ! down or build on it.
  + there is no such option, have you made it up? ~~ make up your mind
ground-in-sources 0.75 in=first+work+done
  @ authoritative (?:\w+ )?(?:documentation|docs|guidance|sources?|references?)|(?:do not|don'?t
  @ |never|without) (?:mak\w+
  @ |assum\w+) (?:any )?(?:assumptions?|details)|find facts\b|cite (?:your |the )?sources?
  @ |back\w* .{0,30}with
  @ \s(?:sources|evidence|references)|experimental (?:observations?|evidence|results?)
  - Findings and designs rested on assumptions.
  ! Ground findings and designs in the specification, the vendor's documentation or an experiment,
  ! and cite it.
  + do not make assumptions, find facts ~~ assume the role of a reader
review-own-work 0.75 in=first+work+done
  @ (?:adversarial|skeptical|sceptical|hostile|red.team|devil'?s advocate)\w* (?:\w+ )?(?:review
  @ |analysis|audit|pass)
  @ |(?:review|check|critique) your (?:own )?(?:work|changes|code|plan)\b|poke holes in
  - Plans and changes were presented before anybody had tried to refute them.
  ! Finish a plan or a branch with an adversarial review of your own, and rework what it finds
  ! before you present it.
  + conduct an adversarial review of this ~~ answer the review
current-versions 0.6
  / (?:ancient|outdated|obsolete|years old)\b.{0,30}(?:version|frameworks?|container|image|model
  / |api|library|package)s?\b|frameworks? look\W+ancient|knowledge cut-?off|(?:use
  / |is) the (?:latest|newest|current) version|(?:veraltete?|obsolète|устаревш\w+)
  - An old version, image, model or API was chosen from memory.
  ! Look up the current version of a library, image, model or API before you choose it; what you
  ! remember is old.
  + oh. so that's an ancient browser container ~~ keep the old name for the file
works-everywhere 0.7 in=work+stopped
  @ does (?:it|this|that) (?:also |still )?work (?:for|on|in|with|if|when|without)\b|will (?:it
  @ |this|that) (?:also |still )?(?:work|break) (?:for|on|in|with|if|the)|same (?:issue|problem
  @ |bug|fix) (?:in|for|on) (?:the )?other|(?:cause|create)s? (?:issues|problems) (?:with|for
  @ |on) (?:the )?other|(?:break|broken?)s? (?:it )?(?:on|for|in) (?:windows|linux|mac\w*|ios
  @ |android|safari|firefox|the other)
  - A change fitted one platform, agent or set-up and not the others it must serve.
  ! Check a change against every platform, agent or set-up the project supports, not only the one at
  ! hand, before you call it done.
  + does this work for the other two agents? ~~ it works for me
own-code-first 0.7
  / (?:are you sure|i doubt|i don'?t (?:think|believe)) .{0,20}(?:it'?s|this is|that'?s) an? <w3>bug
  / |(?:it|that|this)(?:'?s| is)(?:n'?t| not) an? <w3>bug (?:in|of|with)\b|we'?re <w1>(?:importing
  / |calling|using|doing|loading) (?:it|this|that) .{0,20}(?:twice|wrong\w*|different\w*|two)
  - A fault was laid on a tool or a library, and stood in the project's own code.
  ! Look for the cause in the project's own code first; call it a bug of a tool only with a
  ! reference or a reproduction.
  + are you sure this is a compiler bug? ~~ there is a bug in the list
""",
    "verification",
)
