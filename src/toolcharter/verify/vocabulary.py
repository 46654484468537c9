"""The words that rules know: verbs by their effect, and other words of names and descriptions."""

from collections.abc import Iterable, Mapping
from typing import Literal

VerbEffect = Literal["reading", "computing", "running", "creating", "changing", "destroying", "sending"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READING = _words("""
    ask browse cat check count describe diagnose discover examine explore fetch find get glance grep inspect list
    locate look lookup monitor observe peek ping poll preview probe query read recall recommend resolve retrieve
    review scan scrape search see show stat suggest tail trace track view watch whois
""")
"""Verbs that read something and change nothing."""

COMPUTING = _words("""
    analyse analyze answer calculate chart classify compare compile compute convert decode decrypt detect diff digest
    divide echo encode encrypt estimate evaluate explain extract filter format generate geocode geolocate greet group
    guess hash identify infer interpret lint measure multiply normalise normalize paraphrase parse permute plan plot
    predict rank reason reverse rewrite round sample score segment simulate solve sort split subtract sum summarise
    summarize think tokenize transform translate validate verify visualise visualize
""")
"""Verbs that compute a result from their input."""

RUNNING = _words("""
    activate advance authenticate await begin boot build call capture clear click close complete configure connect
    continue deploy deselect disable disconnect do download drag drop enable end enter evaluate execute export fill
    finalize finish focus go handle hover import initialise initialize initiate install interact invoke join launch
    leave load lock login logout make manage mount navigate open operate optimise optimize pause perform play press
    print process prompt pull put rebuild record reload render request restart restore resume retry roll run schedule
    scroll select setup shutdown skip sleep start stop suspend swipe switch sync take tap terminate test toggle
    trigger type unlock unmount upload use wait wake
""")
"""Verbs that do something, but do not say whether it changes anything."""

CREATING = _words("""
    add append assign attach book clone commit copy create draft duplicate enqueue enroll fork import insert invite
    log lpush mint new place provision push register remember reserve rpush sadd save schedule sign store subscribe
    upsert write xadd zadd
""")
"""Verbs that create something."""

CHANGING = _words("""
    accept adjust alter apply approve archive assign cancel change configure customise customize decline decrement
    demote deprecate disable edit enable enforce expire fix grant hide hset increment label lock mark merge migrate
    modify move patch pin populate promote protect reassign rebase reject rename renew reorder replace reschedule
    reset resize restore revert revise rotate set share shift stage star swap tag toggle transfer unarchive unassign
    unlink unlock unmark unpin unprotect unshare unstage unstar unsubscribe untag update upgrade
""")
"""Verbs that change something."""

DESTROYING = _words("""
    delete destroy drop erase expunge hdel kill obliterate purge remove rm shred srem terminate truncate uninstall
    wipe xdel zrem
""")
"""Verbs that remove something."""

DELETING = _words("delete destroy drop erase expunge obliterate purge shred truncate wipe")
"""Verbs that remove something for good. `remove` may only take it out of a list, where it can be put again."""

RESTORABLE_THINGS = _words("""
    association associations bookmark bookmarks breakpoint breakpoints cache cookie cookies favorite favorites filter
    filters highlight label labels like link links member members mock mocks permission permissions reaction reactions
    relation relations role session sessions shortcut subscription tag tags vote webhook webhooks
""")
"""Things that can be added again as they were, after they were deleted."""

SENDING = _words("""
    announce bid broadcast buy charge donate email forward message notify order pay post publish purchase refund reply
    sell send submit tip trade transmit tweet wire withdraw
""")
"""Verbs that reach people, money or the public, and cannot be taken back."""

PAYING = _words("bid buy charge donate order pay purchase refund sell tip trade transfer wire withdraw")
"""Verbs that move money."""

CLEARLY_CHANGING: Mapping[str, VerbEffect] = {
    **dict.fromkeys(_words("alter archive edit increment merge modify patch rename replace set update"), "changing"),
    **dict.fromkeys(_words("append clone create insert provision register upsert write"), "creating"),
    **dict.fromkeys(DESTROYING, "destroying"),
    **dict.fromkeys(_words("broadcast buy forward notify pay post publish purchase sell send submit tweet"), "sending"),
    "add": "creating",
    "save": "creating",
    "transfer": "changing",
    "wire": "sending",
}
"""Verbs that certainly change something."""

SELF_EXPLANATORY_VERBS = _words("""
    disable enable hide label lock lpush mark move pin protect push rename reset resize rpush send set star subscribe
    tag transfer unlock unpin unprotect unstar unsubscribe untag
""")
"""Verbs that say completely what is different afterwards."""

EFFECTS: Mapping[str, VerbEffect] = {
    # A verb in two lists has the effect of the later line, which is more serious.
    **dict.fromkeys(RUNNING, "running"),
    **dict.fromkeys(COMPUTING, "computing"),
    **dict.fromkeys(READING, "reading"),
    **dict.fromkeys(CHANGING, "changing"),
    **dict.fromkeys(CREATING, "creating"),
    **dict.fromkeys(SENDING, "sending"),
    **dict.fromkeys(DESTROYING, "destroying"),
}
"""The effect of each verb."""

MORE_VERBS = _words("""
    abort access acknowledge adapt advise aggregate align allocate amend amplify animate annotate anonymize assert
    audit balance batch benchmark bind block blur bookmark bootstrap bulk bump bundle bury cache calibrate cast
    categorize certify chat checkout choose chunk claim clean clip collapse collect combine compact compose compress
    concatenate confirm consolidate consult contact control cordon correct craft crawl crop curate cut debug decide
    decompose decompress dedupe deduplicate defer define delegate deliver demonstrate denoise derive detach determine
    dictate discard dismiss dispatch display dispute distribute dock downgrade downscale drain draw dump elicit embed
    emit emulate engage enhance enlarge enrich ensure enumerate escalate establish evict exchange exclude exec exit
    expand expect expose extend extrapolate facilitate favorite feed finalise flag flatten flip flush fold follow
    force forecast forget formulate fuse gather give grade guide harden harvest hibernate highlight host ignore
    illustrate impersonate implement improve include index inform ingest init inject input inquire instantiate
    instruct integrate interrupt intersect intervene introspect invalidate invert investigate isolate issue iterate
    jump justify keep learn let link liquidate listen localise localize lookup loop magnify map match maximise
    maximize memorize mention minimise minimize mirror mix mock moderate modernize mutate mute negotiate nominate note
    notify obfuscate obtain offer offload onboard orchestrate organize outline overlay override oversee overwrite pack
    paginate paint park paste perceive persist pick pivot ponder pop postpone prepare prepend prescribe present
    preserve prevent price prioritize produce profile proofread propagate propose provide prune qualify quit quote
    raise randomize rate reach react reactivate realign rebalance reboot recalculate receive recognize recolor
    recompute reconcile reconnect reconstruct recover recreate redact redeem redeploy redirect redo reduce refactor
    refine reflect reformat refresh regenerate reindex reinstall reissue relate release relocate remap remediate
    remind remix reopen reorganize repair repeat rephrase replay replicate report repost represent reproduce requeue
    rerun resample rescan research resend reserve reshape respond resubmit resync retag rethink retract retrain return
    reuse revalidate revoke rewind reword roast rollback route sanitise sanitize say scaffold scale scrub seed seek
    sense separate serialise serialize serve settle sharpen shelve shorten shrink shuffle shut silence simplify sketch
    slice smooth snap snapshot sniff snooze solicit spawn specify spell spin squash stake stash steer step stitch
    stream strip style subset substitute summon supply suppress survey synchronize synthesise synthesize tabulate
    taint tally target teach tell throttle tidy tilt tokenise train transact transcode transcribe transpile transpose
    trash traverse triage trim troubleshoot trust try tune turn tweak unban unbind unblock uncheck uncordon undelete
    undeploy undo unfollow unfreeze unhide unify unlike unload unmute unpack unpublish unregister unschedule unselect
    unset unsuspend unwrap unzip upscale validate vary vectorize visit vote walk warm warn warp weigh widen wire wrap
    zip zoom
""")
"""Verbs without a known effect."""

VERBS = frozenset(EFFECTS) | MORE_VERBS
"""Every verb that a name may begin with."""

ALSO_NOUNS = _words("""
    answer audit batch bid block book bookmark bulk bundle cache call cast charge chart chat check chunk claim clip
    command commit copy count craft diff draft drain drop email embed end exchange exit favorite feed filter flag fold
    forecast fork format fuse group guide hash host index issue jump label link load lock log look map mark match
    message mirror mix mock new note offer order outline overlay paint park pin pivot place plan plot post present
    preview price process profile prompt query quote rank rate reason record release report request research return
    reverse review route run sample scale scan schedule score seed segment select set setup share sign sketch slice
    snapshot sort star start stat step stop store stream style survey sync tag tail taint target test text think tip
    trace track trade transfer trash triage trial trigger trust type upgrade use view visit vote walk watch whois wire
    zip zoom
""")
"""Verbs that are often nouns, and are not taken for verbs at the end of a name."""

_VOWELS = frozenset("aeiou")
_SHORT_VERB = 5
"""A shorter verb may double its last letter: get, getting."""


def _forms(verb: str) -> Iterable[str]:
    """The forms of a verb in a text: delete, deletes, deleting."""
    yield verb
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield f"{verb}es"
    elif verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        yield f"{verb[:-1]}ies"
    else:
        yield f"{verb}s"
    yield f"{verb.removesuffix('e')}ing"
    if len(verb) < _SHORT_VERB and verb[-1] not in "ywxe" and verb[-2] in _VOWELS:
        yield f"{verb}{verb[-1]}ing"


BASE_FORMS: Mapping[str, str] = {form: verb for verb in sorted(VERBS) for form in _forms(verb)} | {v: v for v in VERBS}
"""The base form of each form: delete for deletes and deleting."""

ADVERBS = _words("""
    also asynchronously atomically automatically batch bulk directly dynamically easily efficiently immediately
    intelligently interactively manually optionally permanently programmatically properly quickly randomly recursively
    safely securely simply temporarily
""")
"""Adverbs that may come before the verb, as in: permanently remove."""

OPENING_WORDS = _words("a allows an be can function helps it lets re the this to tool used will you")
"""Other words that may come before the verb, as in: this tool can be used to remove. `use` is itself a verb."""

SYNONYMS = tuple(
    _words(group)
    for group in (
        "add create insert make new",
        "delete destroy drop erase remove rm",
        "alter change edit modify patch update",
        "fetch get retrieve",
        "find lookup search",
        "execute run",
        "begin launch start",
        "end stop terminate",
        "analyse analyze",
        "summarise summarize",
    )
)
"""Groups of verbs of which a server should use only one for the same action."""

GENERIC_NAMES = _words("""
    action api call command do do_action do_it do_something do_task do_work endpoint exec execute execute_action
    execute_task execute_tool function get get_data get_info handle handle_request handler helper info invoke job main
    manage method my_function my_tool operation perform perform_action perform_task process process_data
    process_request query request run run_action run_task run_tool service submit task test tool tools util utility
    utils work
""")
"""Names that do not say what a tool is for, in snake_case and without numbers."""

STOPWORDS = _words("""
    a about all an and any are as at based be by can for from given has have id if in into is it its itself new of on
    one or out over own per provided return returns s some specific specified such that the their them then this those
    to tool tools up use used user using via was which will with within you your
""")
"""Words without a meaning of their own in a description."""

KNOWN_ABBREVIATIONS = _words("""
    adf aes api apk arn aws bbc bgp bpm bpmn btc cdn cdp cfn cli cmd cms cnn cpf cpp cpu crm crud crypto cs csr css
    csv ctf cv cve cwd db dbs dbsize dbt ddl dml dns docx dot dsl dtd ecr ecs eks env etf eth etl exif fbi fft flv fps
    fs ftp fx gcp gcs gdp gis gmt gpg gps gpt gpu gpx gql grpc gtm gui hex hr html html5 http https ico ics id ide ids
    ieee ietf imf img ip ipc ipv isbn iso jpeg jpg jql js json jsonl jsx jwt k8s kb kml kms kpi ldap lft llm llms lru
    ls lsp mcp md mdx mfa mfcc mkv ml mlb mp mp3 mp4 mpeg mqtt ms msg mssql mx mysql nasa nba nfl nft nfts nhl nlp npm
    npx ns ntp nvd oauth ocr odt ols orm os osm otp pc pdf pdfs pgp php pip pkg png ppt pptx pr prs ps psql pwm qr rdf
    rds rest rfc rgb rpc rss rtf sbom sdk seo sfn sftp sh sha slr sms smtp snmp sns sparql sql sqrt sqs src ssh ssl
    sso st stp sts svg sys tcp tf tft tld tls tmdb ts tsv tsx ttl tts tv tx txt udp ui uri url urls usb utc utf uuid
    ux vat vcs vlm vm vms vpc vpn vps vtt wcag webp wms wps ws www xls xlst xlsx xml xpath xrp xrpl xsd xss yaml yml
    zip
""")
"""Abbreviations that people and models know."""

CLIPPED_WORDS = _words("""
    acct addr amt btn cnt ctx cust del desc dest elem emp inv mgmt mgr num obj pwd qty recv ref req resp svc tbl usr
    val
""")
"""Shortened words that a reader has to guess."""

UNFINISHED_WORDS = _words("bak beta bkp demo deprecated dummy experimental final foo foobar legacy old poc tmp wip")
"""Words in names of tools that are not finished, or not meant for others."""
