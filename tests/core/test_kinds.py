"""What a tool is, and from what that is told."""

from __future__ import annotations

from typing import Any

import pytest

from unstuck.commands import command_of, kind_of_command
from unstuck.kinds import KINDS, Kinds, kind_of_name, target_digest
from unstuck.words import Words

NAMES = {
    "read": "read_file readFile ReadFile Read get_user list_dir search grep Glob web_search fetch_page view_image "
    "find_by_id mcp__files__read_file mcp__srv__get_row describe-table query_db inspect_element checkInventory "
    "user_search customer_lookup HTTPGet browser_snapshot browser_take_screenshot get_agent_result "
    "TodoRead list_todos memory_search read_memory get_notes TaskList TaskGet",
    "write": "write_file Write edit_file Edit MultiEdit create_issue delete_row remove_label set_value put_object "
    "update_record insert_row book_flight cancel_order send_money mcp__git__commit apply_patch rename_symbol "
    "file_write move_file install_package update_status add_note_to_customer search_replace search_and_replace "
    "find_and_replace rewrite_file new_file propose_code upsert_document",
    "wait": "wait sleep wait_for_job poll_status check_status job_status get_progress BashOutput_wait await_result "
    "wait_agent check_agent_status task_output TaskOutput task_status browser_wait_for",
    "step": "click press_key scroll_page browser_click mcp__playwright__browser_navigate_back puppeteer_scroll",
    "talk": "say ask_user reply send_message send_email notify respond announce TodoWrite write_todos update_plan create_plan "
    "sequentialthinking think memory_store save_memory write_memory core_memory_append save_note add_note report_progress "
    "log_progress scratchpad exit_plan_mode mcp__thoughts__sequential_thinking TaskCreate TaskUpdate",
    "delegate": "delegate delegate_task spawn_agent spawn handoff handoff_to_sales transfer_to_agent dispatch_agent Task task "
    "run_subagent runSubagent start_agent",
    "other": "foo kettle magic_8 x 42 名前",
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names.split()])
def test_a_name_tells_the_kind(kind: str, name: str):
    """Snake, kebab and camel case, MCP names by their last part; a name nobody knows is `other`."""
    assert kind_of_name(name) == kind


@pytest.mark.parametrize("name", ["", "_", "__", "mcp__", " ", "\ud800", "mcp____", "🙂"])
def test_a_name_without_words_is_other(name: str):
    """Whatever it is made of."""
    assert kind_of_name(name) == "other"


@pytest.mark.parametrize(
    "name",
    [
        "bash",
        "Bash",
        "shell",
        "python",
        "ipython",
        "sql",
        "code_interpreter",
        "execute_command",
        "run_command",
        "terminal",
        "powershell",
        "exec_bash",
    ],
)
def test_a_shell_is_what_its_command_is(name: str):
    """And a shell without a command that is known is `shell`."""
    kinds = Kinds()
    assert kinds.of(name, {"command": "ls -la"}) == "read"
    assert kinds.of(name, {"command": "rm -rf build"}) == "write"
    assert kinds.of(name, {"cmd": "sleep 5"}) == "wait"
    assert kinds.of(name, {"command": ["git", "commit", "-m", "x"]}) == "write"
    assert kinds.of(name, "cat a.txt") == "read"
    assert kinds.of(name, {}) == kinds.of(name, None) == kinds.of(name, {"command": "./build.sh"}) == "shell"


COMMANDS = {
    "read": [
        "ls",
        "cat a.txt | grep x | sort | uniq -c",
        "cd src && ls",
        "cd /a; cat b",
        "sudo cat /etc/hosts",
        "env FOO=1 printenv",
        "/usr/bin/grep -r x .",
        "git status",
        "git log --oneline",
        "git diff > /dev/null",
        "ls 2>/dev/null",
        "ls 2>&1 | head",
        "sed -n 1,5p a.txt",
        "docker ps",
        "time cat a",
        "find . -name '*.py' | wc -l",
        "SELECT * FROM t",
        "select a from b where c > 3",
        "echo hello",
        "curl https://x.example",
        "set -e; cat a",
        "true && pwd",
        "test -f a.txt",
        "kubectl get pods",
        "kubectl rollout status deploy/a",
        "kubectl logs a",
        "aws ec2 describe-instances",
        "gh run view 7",
        "glab ci status --compact",
        "gh pr list",
        "gh api /repos/a",
        "git config --get user.name",
        "systemctl is-active a",
        "black --check src",
        "curl -sS -o /dev/null -w '%{http_code}' a.example",
        "curl -G -d q=x a.example",
        "wget -qO- a.example",
        "ssh h 'cat /etc/hosts'",
        "crontab -l",
        "[ -d src ]",
    ],
    "write": [
        "rm a",
        "mv a b && ls",
        "ls; touch x",
        "echo x > a.txt",
        "cat a >> b",
        "sed -i s/a/b/ f",
        "sed --in-place s/a/b/ f",
        "sudo rm -rf /tmp/x",
        "cd x && mkdir y",
        "git commit -m 'x y'",
        "git push",
        "git checkout main",
        "pip install x",
        "npm install",
        "sudo apt-get install -y x",
        "FOO=1 rm a",
        "env A=1 rm a",
        "tee log.txt",
        "cat a | tee b",
        "kill 77",
        "INSERT INTO t VALUES (1)",
        "update t set a = 1 where b",
        "docker rm x",
        "curl https://x.example > page.html",
        "perl -pi -e s/a/b/ f",
        "perl -i.bak -pe s/a/b/ f",
        "dd if=/dev/zero of=x count=1",
        "rsync -a a/ b/",
        "python - <<EOF\nopen('a.txt', 'w').write('x')\nEOF",
        "python -c \"open('a', mode='wb').write(b'')\"",
        "python3 -c \"from pathlib import Path; Path('a').write_text('x')\"",
        "node -e \"require('fs').writeFileSync('a', 'b')\"",
        "with open(path, 'a') as f:\n    f.write(x)",
        "shutil.rmtree('build')",
        "WITH old AS (SELECT id FROM t) DELETE FROM t WHERE id IN (SELECT id FROM old)",
        "BEGIN; UPDATE t SET a = 1; COMMIT",
        "kubectl set env deploy/a B=1",
        "kubectl scale deploy/a --replicas=3",
        "kubectl rollout restart deploy/a",
        "kubectl exec pod -- rm /tmp/x",
        "curl -s -X POST a.example/settings -d x=1",
        "curl --json '{}' a.example",
        "curl -XDELETE a.example/7",
        "curl -LO https://x.example/a.whl",
        "wget -q https://x.example/a.whl",
        "yq -i '.a=1' a.yml",
        "go get x.example/m@v1",
        "npm i x",
        "gcloud run services update a --memory=1Gi",
        "aws dynamodb put-item --table-name t",
        "docker run -d --name a img",
        "docker restart a",
        "ansible-playbook a.yml",
        "python manage.py migrate token 0001",
        "python -m pip install x",
        "gh pr edit 7 --title x",
        "gh api -X PATCH /repos/a",
        "git config user.name x",
        "git switch a",
        "git bisect bad",
        "black src",
        "ruff check --fix src",
        "prettier --write a.ts",
        'sqlite3 a.db "UPDATE t SET a=1 WHERE id=1"',
        "psql -c 'insert into t values (1)'",
        'ssh h "sed -i s/a/b/ a.conf"',
        "ssh -p 22 h 'rm -rf /tmp/x'",
        "perl -0pi -e s/a/b/ f",
        "redis-cli SET a 1",
        "crontab jobs.txt",
        "sysctl -w a.b=1",
        "Set-Content a.txt x",
        "heroku config:set A=1",
        "xargs rm < list",
    ],
    "wait": ["sleep 5", "sleep 5; cat log", "sleep 5 && tail log", "timeout 5 cat a", "watch ls", "wait"],
    "shell": [
        "",
        "   ",
        "./run.sh",
        "make",
        "python x.py",
        "npm test",
        "pytest -q",
        "foo | bar",
        "python x.py | tail -n 3",
        "perl -ne 'print if /x/' f",
        "python -c \"print(open('a').read())\"",
        "print(a > 3)",
        "if x >= 2: y()",
        "npm run build",
        "uv run pytest -q",
        "cargo test",
        "ruff check src",
        "sqlite3 a.db",
    ],
    "step": ["xdotool key Down", "xdotool key Down; sleep 1"],
}


@pytest.mark.parametrize(("kind", "command"), [(kind, command) for kind, commands in COMMANDS.items() for command in commands])
def test_a_command_line_tells_the_kind(kind: str, command: str):
    """Any step that changes something makes a write, else a wait, else what is not known, else a look."""
    assert kind_of_command(command) == kind


@pytest.mark.parametrize("command", ["x" * 20_000, "a | " * 4_000, ">" * 10_000, "\ud800", "| | |", "&& &&", "sudo", "env A=1"])
def test_odd_command_lines_are_shells_or_writes(command: str):
    """None raises, and none is taken for a look."""
    assert kind_of_command(command) in ("shell", "write")


def test_a_comparison_in_sql_is_no_redirection():
    """`>` in a query changes nothing."""
    assert kind_of_command("WITH x AS (SELECT 1) SELECT * FROM x WHERE a > 3") == "read"


STATEMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("query", {"sql": "UPDATE t SET a = 1"}, "write"),
    ("query", {"sql": "SELECT a FROM t"}, "read"),
    ("execute_sql", {"sql": "select 1"}, "read"),
    ("execute_sql", {"statement": "drop table t"}, "write"),
    ("run_query", {"query": "insert into t values (1)"}, "write"),
    ("query_database", {"query": "-- new rows\nINSERT INTO t VALUES (1)"}, "write"),
    ("mcp__postgres__query", {"sql": "with x as (select 1) select * from x"}, "read"),
    ("read_query", {"query": "CREATE TEMP TABLE t (a int)"}, "write"),
    ("db", {"query": "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE"}, "write"),
    ("db", {"query": "ALTER TABLE t ADD c int"}, "write"),
    ("db", {"query": "COPY t FROM 'a.csv'"}, "write"),
    ("db", {"query": "EXPLAIN SELECT 1"}, "read"),
    ("sql", "update t set a = 1", "write"),
    ("search", {"query": "delete from a list in python"}, "read"),
    ("query", {"query": "how to update a set"}, "read"),
    ("query", {"id": 7}, "read"),
]


@pytest.mark.parametrize(("tool", "args", "kind"), STATEMENTS, ids=repr)
def test_a_statement_of_sql_tells_the_kind(tool: str, args: Any, kind: str):
    """Where a tool's name says that it takes one; a question in words is none."""
    assert Kinds().of(tool, args) == kind


ACTIONS: list[tuple[str, Any, str]] = [
    ("computer", {"action": "left_click", "coordinate": [1, 2]}, "step"),
    ("computer", {"action": "key", "text": "Down"}, "step"),
    ("computer", {"action": "type", "text": "x"}, "step"),
    ("computer", {"action": "mouse_move"}, "step"),
    ("computer", {"action": "screenshot"}, "read"),
    ("computer", {"action": "wait", "duration": 2}, "wait"),
    ("computer", {"action": "cursor_position"}, "other"),
    ("browser", {"action": "scroll"}, "step"),
    ("gdb", {"cmd": "continue"}, "step"),
    ("gdb", {"command": "-exec-next"}, "step"),
    ("gdb", {"cmd": "x/4x $sp"}, "read"),
    ("gdb_command", {"command": "info locals"}, "read"),
    ("pdb", {"command": "p x\nn"}, "step"),
    ("pdb", {"command": "b 12"}, "write"),
    ("debug_step", {}, "step"),
    ("mobile_swipe", {}, "step"),
    ("str_replace_editor", {"command": "view", "path": "a"}, "read"),
    ("str_replace_editor", {"command": "create", "path": "a"}, "write"),
    ("str_replace_based_edit_tool", {"command": "str_replace"}, "write"),
    ("text_editor", {"command": "insert"}, "write"),
    ("kettle", {"action": "list"}, "read"),
    ("kettle", {"operation": "delete_item"}, "write"),
    ("kettle", {"method": "GET"}, "read"),
    ("kettle", {"method": "POST"}, "other"),
    ("kettle", {"command": "go north and look"}, "other"),
    ("kettle", {"action": 7}, "other"),
    ("memory", {"command": "view", "path": "/m"}, "read"),
    ("memory", {"command": "create", "path": "/m"}, "talk"),
    ("todo", {"action": "add"}, "talk"),
    ("create_issue", {"action": "list"}, "write"),
    ("kettle", {"path": "a", "old": "x", "new": "y"}, "write"),
    ("kettle", {"path": "a", "new_content": "x"}, "write"),
    ("kettle", {"path": "a", "text": "x"}, "other"),
    ("text_editor", {"path": "a", "old_str": "x", "new_str": "y"}, "write"),
]


@pytest.mark.parametrize(("tool", "args", "kind"), ACTIONS, ids=repr)
def test_an_argument_that_names_the_action_tells_the_kind(tool: str, args: Any, kind: str):
    """Of tools that can do several things, and of those about which the name says nothing."""
    assert Kinds().of(tool, args) == kind


def test_what_the_name_alone_tells_is_the_same_whatever_the_arguments():
    """So that it can be remembered."""
    kinds = Kinds({"mystery": "wait"})
    assert (kinds.by_name("read_file"), kinds.by_name("mystery"), kinds.by_name("kettle")) == ("read", "wait", "other")
    assert [kinds.by_name(name) for name in ("bash", "query", "computer", "str_replace_editor", "memory")] == [None] * 5


HINTS: list[tuple[dict[str, Any], str]] = [
    ({"readOnlyHint": True}, "read"),
    ({"readOnlyHint": False}, "write"),
    ({"destructiveHint": True}, "write"),
    ({"readOnlyHint": True, "destructiveHint": True}, "read"),
    ({"kind": "wait"}, "wait"),
    ({"kind": "read", "readOnlyHint": False}, "read"),
    ({"kind": "nonsense", "readOnlyHint": True}, "read"),
    ({"idempotentHint": True}, "other"),
    ({"destructiveHint": False}, "other"),
    ({"readOnlyHint": "yes"}, "other"),
    ({"readOnlyHint": None}, "other"),
    ({}, "other"),
]


@pytest.mark.parametrize(("hints", "kind"), HINTS, ids=repr)
def test_annotations_tell_the_kind_where_they_do(hints: dict[str, Any], kind: str):
    """MCP's hints count where they are true or false; what they leave open is told from the name."""
    assert Kinds().of("kettle", None, hints) == kind


def test_the_table_wins_over_annotations_these_over_names_these_over_commands():
    """The user knows best, then the server."""
    table = Kinds({"get_x": "write", "mcp__jira__*": "talk"})
    assert table.of("get_x", None, {"readOnlyHint": True}) == "write"
    assert table.of("mcp__jira__get_issue", None, {"readOnlyHint": True}) == "talk"
    assert table.of("get_y", None, {"readOnlyHint": False}) == "write"
    assert table.of("get_y") == "read"
    assert Kinds({"bash": "read"}).of("bash", {"command": "rm a"}) == "read"
    assert Kinds().of("bash", {"command": "rm a"}, {"readOnlyHint": True}) == "read"


def test_an_exact_name_wins_over_a_beginning():
    """A tool that the table names in full is that."""
    assert Kinds({"get_*": "wait", "get_x": "talk"}).of("get_x") == "talk"
    assert Kinds({"get_*": "wait", "get_x": "talk"}).of("get_y") == "wait"
    assert Kinds({"*": "delegate"}).of("anything") == "delegate"


@pytest.mark.parametrize("kind", [name for name in Words._fields if name in KINDS])
def test_every_list_of_names_can_be_extended(kind: str):
    """A word of one's own stands for the kind whose list it is added to."""
    kinds = Kinds(words=Words(**{kind: frozenset(("zorb",))}))
    assert kinds.of("zorb") == kind
    assert Kinds().of("zorb") == "other"


def test_kinds_are_few_and_known():
    """The names that settings and annotations may use."""
    assert {"read", "write", "step", "wait", "talk", "delegate", "shell", "other"} == KINDS


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("ls", "ls"),
        ({"command": "ls"}, "ls"),
        ({"code": "print(1)"}, "print(1)"),
        ({"script": "x", "command": "ls"}, "ls"),
        ({"command": ["git", "status"]}, "git status"),
        ({"command": ["git", 7, None]}, "git"),
        ({"other": "ls"}, None),
        ({"command": 7}, None),
        (None, None),
        (["ls"], None),
    ],
    ids=repr,
)
def test_where_a_command_stands(args: Any, expected: str | None):
    """In the fields that are known for it, as text or as a list of words."""
    assert command_of(args) == expected


def test_what_a_call_is_about():
    """Its path or address; nothing where it names none."""
    assert target_digest({"path": "a"}) == target_digest({"file_path": "a", "content": "x"}) != 0
    assert target_digest({"url": "a"}) != target_digest({"url": "b"})
    assert target_digest({"query": "a"}) == target_digest(None) == target_digest("a") == target_digest({"path": 7}) == 0
