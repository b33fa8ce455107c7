"""
The word lists of names of tools, programs and fields that detectors and kinds go by, in one place.

They are data, not rules: `Options(words=Words(...))` adds to each of them. Matching ignores case. Names of tools and fields
are English because APIs are; what tools answer is listed in `unstuck.phrases`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

READ = frozenset(
    "get list read search find fetch show view check query lookup describe inspect count grep glob cat head tail open "
    "select browse scan analyze analyse examine review retrieve recall load print display explain diff stat status "
    "locate discover extract calculate compute validate verify test lint ls tree info help hash parse preview see "
    "synopsis summary screenshot snapshot".split()
)
"""First words of tools that only look."""
STEP = frozenset(
    "click press tap type key keypress scroll swipe hover drag mouse hotkey navigate goto back forward next previous step "
    "advance continue resume".split()
)
"""First words of tools that move something on by one."""
WRITE = frozenset(
    "create update delete add remove set post put insert write edit replace patch apply move rename save append commit "
    "push install book cancel modify upload publish deploy merge close enable disable start restart pay charge refund "
    "order buy submit register assign unassign copy mkdir touch drop truncate clear exchange return revert undo fix "
    "attach detach label lock unlock grant revoke archive restore import migrate release multiedit schedule rewrite "
    "reapply propose new upsert rollback checkout scale store provision activate "
    "deactivate terminate reboot swap sync populate seed".split()
)
"""First words of tools that change something."""
WAIT = frozenset("wait sleep poll pause yield await idle delay status progress watch monitor output done ready".split())
PAUSE = frozenset("wait sleep pause yield await idle delay".split())
"""Those of `WAIT` that let time pass; the others look how far something is."""
"""Words in the names of tools that wait or look whether something is done."""
NOTES = frozenset(
    "todo todos todowrite todoread plan plans note notes memo memory memories scratchpad think thinking thought thoughts "
    "sequentialthinking brainstorm journal checklist remember".split()
)
"""What an agent writes down for itself; it changes nothing in the world."""
NOTING = frozenset(
    "create update add write set save make edit revise append insert remove delete clear replace mark complete upsert put store "
    "record log keep take get read show view search find recall retrieve list item items entry entries my self new internal "
    "session agent working short long term core archival sequential step steps mode enter exit manage tool".split()
)
"""Words that may stand beside these in the name of a tool."""
RECALLING = frozenset("read get show view search find recall retrieve".split())
"""Last words of such a name that say that it only looks."""
REPORTING = frozenset("report update log record save set post share note".split())
"""First words of tools that say how far the work has come: `report_progress`."""
ACTING = frozenset("computer desktop browser editor str mouse keyboard screen gui".split())
"""Words in the names of tools that say in an argument what they do."""
DEBUGGERS = frozenset("gdb lldb pdb ipdb dlv delve jdb windbg radare r2 debugger".split())
"""Words in the names of tools that take a debugger's commands."""
DEBUG_STEP = frozenset(
    "c cont continue n next ni nexti s step si stepi stepover stepinto stepout finish fin until unt advance adv run r start jump j "
    "return restart resume reverse-continue reverse-next reverse-step up down attach detach exec-continue exec-next exec-step "
    "exec-finish exec-run".split()
)
"""A debugger's commands that move the program on, or the place that is looked at."""
DEBUG_READ = frozenset(
    "p print pp po x i info bt backtrace where w whatis ptype l list ll a args locals disas disassemble display frame f show help h "
    "source stack regs registers var vars variable".split()
)
"""Those that look."""
DEBUG_WRITE = frozenset(
    "set b break breakpoint tbreak tb hb hbreak delete d clear cl condition watch rwatch enable disable ignore".split()
)
"""Those that change what it does next."""
ACTION_FIELDS = ("action", "operation", "op", "method", "command", "action_type")
"""The arguments that say it."""
SQL = frozenset(
    "query queries sql statement db database sqlite postgres postgresql mysql mariadb duckdb bigquery snowflake redshift "
    "clickhouse".split()
)
"""Words in the names of tools that may take a statement of SQL."""
SQL_FIELDS = ("sql", "query", "statement", "sql_query", "command", "q")
"""The arguments that hold it."""
TALK = frozenset("say ask reply respond message notify tell chat comment email mail sms announce speak answer".split())
"""First words of tools that address somebody."""
DELEGATE = frozenset("delegate spawn handoff transfer task agent subagent dispatch escalate".split())
"""Words in the names of tools that pass work to another agent."""
SHELL = frozenset("bash sh shell exec execute terminal cmd powershell pwsh zsh command console ssh run".split())
"""Words in the names of tools that take a command line or code."""
CODE = frozenset("python ipython sql repl code interpreter".split())
"""Words that the whole name of a tool is made of that takes code."""
ROOMS = frozenset("browser playwright puppeteer chrome mobile android ios debug debugger gdb lldb pdb dap".split())
"""First words that say where a tool works, before the one that says what it does."""
SHELL_IN_PLACE: dict[str, Literal["read", "shell"]] = {
    "sed": "read",
    "gsed": "read",
    "yq": "read",
    "perl": "shell",
    "ruby": "shell",
}
"""Programs that change files in place with `-i`, and what they are without it."""
SHELL_STEP = frozenset("xdotool ydotool cliclick".split())
"""Programs that press keys and move the mouse."""
SHELL_HTTP = frozenset("curl wget http https xh httpie".split())
"""Programs that make a request over the network."""
SHELL_FORMATTERS_ALWAYS = frozenset("black isort autopep8 rustfmt yapf docformatter".split())
SHELL_FORMATTERS = SHELL_FORMATTERS_ALWAYS | frozenset(
    "ruff prettier eslint biome stylelint gofmt goimports clang-format shfmt".split()
)
"""Programs that change the files they look at, always or where a flag says so."""
SHELL_MANAGERS = frozenset(
    "git gh glab hub docker podman docker-compose kubectl oc helm gcloud gsutil aws az doctl fly flyctl heroku vercel netlify firebase "
    "supabase npm pnpm yarn bun pip pip3 pipx uv poetry conda mamba cargo go gem bundle composer terraform tofu pulumi systemctl service "
    "redis-cli alembic flyway liquibase prisma knex rails manage.py django-admin crontab sysctl launchctl nix".split()
)
"""Programs whose sub-commands say what they do."""
SHELL_ACTS = frozenset(
    "i ci restart start stop scale rollback set hset lpush rpush sadd zadd incr decr expire del flushall annotate taint cordon drain "
    "expose autoscale edit cp deploy up down migrate makemigrations loaddata upgrade downgrade destroy terminate reboot rerun comment "
    "review fmt fix mod link unlink prune rmi tag enable disable reload mask".split()
)
"""Sub-commands that change something, beside those in `WRITE`."""
SHELL_WRITE = frozenset(
    "apply_patch mv cp rm mkdir rmdir touch chmod chown ln tee dd patch rsync scp kill pkill killall apply create delete install "
    "uninstall commit push pull merge rebase checkout reset stash clone init add restore tag upgrade update remove apt "
    "apt-get brew systemctl service truncate bisect cherry-pick revert switch unzip tar gunzip gzip ed ansible-playbook "
    "set-content add-content clear-content new-item remove-item move-item copy-item rename-item out-file".split()
)
"""Programs and sub-commands that change something."""
SHELL_READ = frozenset(
    "ls cat head tail grep rg find fd wc stat file pwd env echo date whoami which type ps top df du free diff cmp tree "
    "less more sort uniq cut awk jq yq printenv uname hostname id curl wget ping dig nslookup history man help log "
    "show status describe get list view version info blame get-content get-childitem get-item select-string test-path".split()
)
"""Programs and sub-commands that only look."""
SHELL_ASK = frozenset("grep egrep fgrep rg ag ack diff cmp test [ [[ pgrep which whereis type".split())
"""Programs that say no with an exit status of 1: nothing was found, two files differ, a condition does not hold."""
SHELL_WAIT = frozenset("sleep wait watch timeout".split())
"""Programs that pass time."""
QUESTION_FIELDS = (
    "query",
    "q",
    "question",
    "search",
    "search_query",
    "search_term",
    "keywords",
    "terms",
    "prompt",
    "pattern",
    "text",
)
"""Arguments that hold what is looked for, in words."""
DURATION_FIELDS = {
    **dict.fromkeys("seconds secs duration duration_seconds wait_seconds sleep_seconds delay delay_seconds sleep".split(), 1.0),
    **dict.fromkeys("minutes mins duration_minutes wait_minutes".split(), 60.0),
    **dict.fromkeys("milliseconds ms duration_ms delay_ms wait_ms sleep_ms".split(), 0.001),
}
"""Arguments that say for how long a tool waits, and the seconds of their unit."""
COMMAND_FIELDS = ("command", "cmd", "code", "script", "input", "query", "sql", "statement", "raw")
"""Arguments that hold a command line, in the order in which they are looked for."""
REMARK_FIELDS = frozenset(
    "reason description explanation thought thoughts rationale justification purpose intent intention comment remark "
    "why goal_reason reasoning note_to_self current_step summary_of_action".split()
)
"""Arguments that say why a call is made and not what it does."""
REASON_FIELDS = frozenset(
    "reason reasons reasoning rationale justification why comment remark thought thoughts goal_reason".split()
)
"""Arguments that say why work is passed on, and neither to whom nor what it is."""
LIMIT_FIELDS = frozenset(
    "limit max maximum max_results max_count maxresults count size page_size pagesize per_page top top_k topk k n timeout "
    "timeout_ms depth max_depth lines num_results numresults retries wait seconds ttl head_limit context".split()
)
"""Arguments that bound an answer and do not choose it."""
THROWAWAY_FIELDS = frozenset(
    "nonce request_id requestid req_id reqid trace_id traceid span_id spanid correlation_id correlationid idempotency_key "
    "idempotencykey cache_bust cache_buster cachebust cachebuster nocache rand rnd _ timestamp ts attempt retry_count".split()
)
"""Arguments that only tell a call from another one."""
THROWAWAY_QUERY = frozenset(
    "_ _t _ts ts timestamp nonce cachebust cache_bust cachebuster cache_buster nocache no_cache bust cb rand random rnd "
    "request_id requestid req_id reqid".split()
)
"""Parameters of addresses that do the same."""
RANGE_START_FIELDS = ("start", "start_line", "startline", "offset", "from", "line_start", "begin", "first_line", "skip")
RANGE_END_FIELDS = ("end", "end_line", "endline", "to", "line_end", "stop", "last_line")
RANGE_SIZE_FIELDS = ("limit", "lines", "count", "length", "num_lines")
PATH_FIELDS = ("path", "file_path", "filepath", "file", "filename", "target_file", "uri", "url", "notebook_path")
"""Arguments that name what a call is about."""
OLD_FIELDS = ("old", "old_string", "old_str", "old_text", "search", "find", "before")
NEW_FIELDS = ("new", "new_string", "new_str", "new_text", "replace", "replacement", "after")
"""Arguments of an edit: what is taken out and what is put in."""
CONTENT_FIELDS = ("content", "text", "file_text", "contents", "data", "body", "new_content", "new_source")
"""Arguments that hold a target's whole new content."""
VOLATILE_FIELDS = (
    "pid ppid tid thread_id duration duration_ms duration_seconds durationms durationseconds elapsed elapsed_ms elapsedms "
    "elapsed_time took latency latency_ms wall_time walltime execution_time executiontime response_time responsetime "
    "timestamp ts datetime now date time current_time currenttime generated_at generatedat fetched_at fetchedat checked_at "
    "request_id requestid req_id reqid trace_id traceid span_id spanid correlation_id correlationid session_id sessionid "
    "invocation_id execution_id execution_count attempt attempts retry_count call_count call_number calls_made request_count "
    "request_number poll_count invocation_count call_id callid message_id messageid "
    "uuid guid nonce boundary csrf_token cf-ray ray etag x-request-id "
    "expires_in expires_at uptime uptime_seconds uptime_ms x-runtime x-response-time x-ratelimit-remaining x-ratelimit-used "
    "x-ratelimit-reset seed random_seed output_tokens completion_tokens total_tokens tokens_used tool_uses"
).split()
"""Fields whose value says nothing about the world: `name: value`, `name=value`, and the same in JSON."""
CURSOR_FIELDS = frozenset(
    "nextcursor next_cursor endcursor end_cursor nextpagetoken next_page_token nexttoken next_token continuationtoken "
    "continuation_token scroll_id _scroll_id".split()
)
"""Fields that say where to go on: of one call, made again, no news; of a call that named the last one, the next page."""
VOLATILE_LEADS = ("req", "request", "trace", "span", "ray", "nonce", "boundary", "correlation id", "ref", "incident")
"""Words before an identifier in running text: `(req 5feceb)`."""
OPPOSITES = (
    ("add", "remove"),
    ("create", "delete"),
    ("enable", "disable"),
    ("open", "close"),
    ("lock", "unlock"),
    ("attach", "detach"),
    ("start", "stop"),
    ("grant", "revoke"),
    ("assign", "unassign"),
    ("mount", "unmount"),
    ("insert", "delete"),
    ("push", "pop"),
    ("apply", "revert"),
    ("label", "unlabel"),
    ("subscribe", "unsubscribe"),
)
"""Pairs of verbs that take each other back."""


class Words(NamedTuple):
    """What a user adds to the lists; each field extends the list of the same name."""

    read: frozenset[str] = frozenset()
    write: frozenset[str] = frozenset()
    step: frozenset[str] = frozenset()
    wait: frozenset[str] = frozenset()
    talk: frozenset[str] = frozenset()
    delegate: frozenset[str] = frozenset()
    shell: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    volatile_fields: frozenset[str] = frozenset()
    remark_fields: frozenset[str] = frozenset()
    limit_fields: frozenset[str] = frozenset()
