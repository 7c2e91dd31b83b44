"""The page without a browser: what each form leads to, and what is refused."""

import asyncio
import errno
import json
import re
import time
from html import unescape

import pytest
from batch_tables import DAYS
from commands import run
from starlette.testclient import TestClient

from debandit.app.server import App

PORT = 8117
HOME = f"http://127.0.0.1:{PORT}"
MOST_BYTES = 300_000
WRITTEN = re.compile(r"<pre.*?</pre>", re.DOTALL)  # the command that made it
TOKEN = re.compile(r'name="token" value="(\w+)"')


@pytest.fixture(scope="module")
def client():
    with TestClient(App(PORT, MOST_BYTES).guarded(), base_url=HOME) as client:
        yield client


def text_of(response):
    """What one reads on a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", response.text)).split())


def token_of(client):
    return TOKEN.search(client.get("/").text)[1]


def sent(client, content=DAYS, name="days.csv"):
    """The place of an analysis of this file."""
    answer = client.post("/logs", data={"token": token_of(client)}, files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return str(answer.url).removesuffix("/columns")


def say(client, place, **typed):
    """The page that comes after a form."""
    return in_the_end(client, client.post(place, data={"token": token_of(client), **typed}))


def in_the_end(client, answer):
    """The page that comes when nobody has to wait any more."""
    end = time.monotonic() + 240
    while "data-progress" in answer.text and time.monotonic() < end:
        answer = client.get(str(answer.url))
    return answer


@pytest.fixture(scope="module")
def place(client):
    return sent(client)


def test_what_was_read(client, place):
    shown = text_of(in_the_end(client, client.get(f"{place}/columns")))
    assert "2 arms, 2,000 rounds in 2 batches of 1,000; rewards are 0/1" in shown
    assert "variant (guessed)" in shown
    assert "conversions (guessed)" in shown


def test_columns_are_corrected(client):
    """A guess that is wrong is complained of beside its field, and mended there."""
    place = sent(client, "variant,arm,reward,other\na,x,1,5\nb,y,0,6\na,y,1,7\nb,x,0,8\n", "two.csv")
    page = client.get(f"{place}/columns")
    assert "the columns 'variant' and 'arm' may both be the arm" in text_of(page)
    assert 'id="arm-error"' in page.text
    assert "Say which: “Arm” variant" in text_of(page)
    page = say(client, f"{place}/columns", arm="variant", metrics="other", then="columns")
    assert "2 arms, 4 rounds" in text_of(page)
    assert re.search(r'value="other" checked', page.text)
    assert str(say(client, f"{place}/columns", arm="variant", then="rule").url).endswith("/rule")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\x00\x01\x02", "this is not a table in UTF-8"),
        ("", "the file is empty"),
        ("arm,reward\na,1\nb,x\n", "'x'"),
    ],
)
def test_files_that_are_no_logs(client, content, complaint):
    place = sent(client, content, "<b>odd.csv")
    page = client.get(f"{place}/columns")
    assert complaint in text_of(page)
    assert "<b>" not in page.text
    assert "debandit-app-" not in page.text  # where it is kept
    assert "&lt;b&gt;odd" in page.text


def test_no_file(client):
    answer = client.post("/logs", data={"token": token_of(client)}, files={"file": ("", b"")})
    assert answer.status_code == 400
    assert "no file was chosen" in text_of(answer)


def test_the_rule_is_made_of_its_fields(client, place):
    typed = {"by": "list", "rule": "beta_thompson", "o-alpha": "2", "o-beta": "1.0", "w-batched": "on"}
    page = say(client, f"{place}/rule", **typed, **{"w-batched-size": ""})
    assert "batched(beta_thompson(alpha=2" in text_of(page)
    form = client.get(f"{place}/rule").text
    assert re.search(r'name="o-alpha" value="2"', form)
    assert re.search(r'name="w-batched" checked', form)


@pytest.mark.parametrize(
    ("typed", "field", "complaint"),
    [
        ({"by": "list", "rule": "ucb", "o-c": "-1"}, "o-c", "c must be a number"),
        ({"by": "list", "rule": "ucb", "w-batched": "on", "w-batched-size": "0"}, "w-batched-size", "size must be"),
        ({"by": "list", "rule": "ucb", "o-c": "1j"}, "o-c", "c must be a number"),
        ({"by": "list", "rule": "ucb", "o-c": "{[]: 1}"}, "o-c", "c must be a number"),
        ({"by": "list", "rule": "ucb", "o-c": "9" * 5000}, "o-c", "c must be a number"),
        ({"by": "text", "text": "ucb(k=1)"}, "text", "ucb has no option 'k'"),
        ({"by": "list", "rule": "ucb", "w-tempered": "on"}, "", "ucb has no randomness"),
        ({"by": "platform", "rule": "braze"}, "o-most", "needs most"),
    ],
)
def test_a_wrong_option_is_complained_of_beside_its_field(client, place, typed, field, complaint):
    page = say(client, f"{place}/rule", **typed)
    assert complaint in text_of(page)
    errors = re.findall(r'id="([\w-]*)-error"', page.text)
    assert errors == ([field] if field else [])


@pytest.mark.parametrize("text", ["{file}:Evil", "batched({file}:Evil)", "batched(policy='{odd}:Evil')"])
def test_no_python_file_is_run(client, place, tmp_path, text):
    """Not even if its name is hidden: the control is that the command runs it."""
    file = tmp_path / "evil.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    rule = text.format(file=file, odd=str(file).replace(".py", "\\x2epy"))
    page = say(client, f"{place}/rule", by="text", text=rule)
    assert "error" in page.text or "problem" in page.text
    assert not (tmp_path / "ran").exists()
    (tmp_path / "days.csv").write_text(DAYS)
    run("check", tmp_path / "days.csv", "--policy", rule)
    assert (tmp_path / "ran").exists()


def test_the_numbers_are_those_of_the_command(client, tmp_path):
    """For the same options and seed, bit for bit; so are the command and its file."""
    place = sent(client)
    say(client, f"{place}/rule", by="text", text="batched(beta_thompson)")
    options = {"control": "old", "level": "0.9", "seed": "7", "runs": "300", "interval": "auto", "world": "auto"}
    page = say(client, f"{place}/options", **options, adjust="auto", method="bootstrap", control_variates="on")
    assert page.url.path.endswith("/report")
    (tmp_path / "days.csv").write_text(DAYS)
    typed = ["--policy", "batched(beta_thompson)", "--control", "old", "--level", "0.9", "--seed", "7", "--runs", "300"]
    answer = run("debias", "days.csv", *typed, "--json", "result.json", "--report", "report.html", cwd=tmp_path)
    assert answer.returncode == 0
    file = client.get(f"{place}/result.json")
    assert file.json() == json.loads((tmp_path / "result.json").read_text())
    assert "debandit debias days.csv --policy 'batched(beta_thompson)' --control old --level 0.9" in text_of(page)
    report = client.get(f"{place}/report.html")
    assert report.headers["content-disposition"] == 'attachment; filename="days-report.html"'
    ours, theirs = (WRITTEN.sub("", text) for text in (report.text, (tmp_path / "report.html").read_text()))
    assert ours == theirs


def test_wrong_options(client):
    place = sent(client)
    say(client, f"{place}/rule", by="text", text="batched(beta_thompson)")
    page = say(client, f"{place}/options", level="2", control_variates="on")
    assert 'id="level-error"' in page.text
    assert "a level lies between 0.5 and 0.999" in text_of(page)
    page = say(client, f"{place}/options", level="0.95", control="nobody", control_variates="on")
    assert 'id="control-error"' in page.text
    for odd in ("1j", "nan", "1e999", "b'1'", "{1}", "[1, [2]]", "-" * 1000, "(" * 5000, "x" * 10_000):
        page = say(client, f"{place}/options", seed=odd, level=odd, control_variates="on")
        assert page.url.path.endswith("/options"), odd[:20]
        assert "a level lies between" in text_of(page), odd[:20]


def test_forms_that_no_browser_sends(client, place):
    for typed in ({"arms": "a\nb\r,"}, {"arms": "a\0"}, {"arm": "x", "reward": "x"}, {"then": "nowhere"}):
        assert client.post(f"{place}/columns", data={"token": token_of(client), **typed}).status_code in (200, 400)
    for typed in (
        {},
        {"by": "list"},
        {"by": "list", "rule": "__class__"},
        {"by": "platform", "rule": "x"},
        {"by": "x"},
    ):
        assert client.post(f"{place}/rule", data={"token": token_of(client), **typed}).status_code == 200
    assert client.get(f"{place}/rule?by=x&rule=../../x&wrong=").status_code == 200
    assert client.post(f"{place}/cancel", data={"token": token_of(client), "task": "x"}).status_code == 404
    for path in ("report.html", "result.json", "progress?task=x", "log", "..%2f..%2fetc%2fpasswd"):
        assert client.get(f"{place}/{path}").status_code == 404
    say(client, f"{place}/columns")  # as before


def test_what_was_typed_is_shown_again_without_what_cannot_be_seen(client, place):
    page = say(client, f"{place}/rule", by="text", text="batched(\r\n  ubc\0\x1b)")
    assert re.search(r">batched\(\n  ubc\ufffd\ufffd\)</textarea>", page.text)
    say(client, f"{place}/rule", by="text", text="batched(beta_thompson)")
    page = say(client, f"{place}/options", seed="\0", control_variates="on")
    assert 'name="seed" value="\ufffd"' in page.text


def test_an_arm_without_rewards(client):
    """It is refused until one says what to take it for, which is asked for at once."""
    place = sent(client)
    say(client, f"{place}/columns", arms="old, new, third", then="rule")
    say(client, f"{place}/rule", by="text", text="batched(beta_thompson)")
    first, _, _ = client.get(f"{place}/options").text.partition("<details")
    assert 'name="unseen"' in first
    page = say(client, f"{place}/options", runs="50", control_variates="on")
    assert page.url.path.endswith("/options")
    assert "no reward was logged for third" in text_of(page)
    assert 'id="unseen-error"' in page.text
    page = say(client, f"{place}/options", runs="50", control_variates="on", unseen="0.05, 0.2")
    assert "--arms old,new,third --policy 'batched(beta_thompson)' --runs 50 --unseen 0.05,0.2" in text_of(page)


def test_a_data_set(client):
    answer = client.post("/datasets", data={"token": token_of(client), "name": "ecmo"})
    place = str(answer.url).removesuffix("/columns")
    assert "12 rounds" in text_of(answer)
    page = say(client, f"{place}/rule", by="list", rule="play_the_winner", **{"o-balls": "1.0", "o-added": "1.0"})
    assert "may have made this log" in text_of(page)
    assert client.post("/datasets", data={"token": token_of(client), "name": "none"}).status_code == 404


def test_a_rule_that_fits_is_found(client):
    rows = "".join(f"{'ab'[t % 2]},{t % 2}\n" for t in range(60))
    place = sent(client, "arm,reward\n" + rows, "rounds.csv")
    page = say(client, f"{place}/rule", by="unknown")
    assert page.url.path.endswith("/identified")
    rule = unescape(re.search(r'name="text" value="([^"]*)"', page.text)[1])
    page = say(client, f"{place}/rule", by="these", text=rule)
    assert page.url.path.endswith("/check")


# security


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", "", "localhost"])
def test_other_names_of_this_server_are_refused(client, host):
    """A page whose name leads to 127.0.0.1 could read along otherwise."""
    assert client.get("/", headers={"host": host}).status_code == 403
    assert client.get("/", headers={"host": f"localhost:{PORT}"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_posts_of_other_sites_are_refused(client, headers):
    given = {"data": {"token": token_of(client), "name": "ecmo"}, "follow_redirects": False}
    assert client.post("/datasets", headers=headers, **given).status_code == 403
    own = {"origin": HOME, "sec-fetch-site": "same-origin"}
    assert client.post("/datasets", headers=own, **given).status_code == 303


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_posts_without_the_token_are_refused(client, place, token):
    for path in ("/datasets", f"{place}/columns", f"{place}/rule", f"{place}/options", f"{place}/cancel"):
        assert client.post(path, data={"token": token, "name": "ecmo"}).status_code == 403
    answer = client.post("/logs", data={"token": token}, files={"file": ("a.csv", DAYS)})
    assert answer.status_code == 403


def test_other_sites_do_not_get_to_see_anything(client):
    assert client.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}).status_code == 403
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/", headers=link).status_code == 200
    frame = link | {"sec-fetch-dest": "iframe"}
    assert client.get("/", headers=frame).status_code == 403
    assert client.put("/").status_code == 403


def test_another_session_sees_nothing_of_this_one(client, place):
    other = TestClient(client.app, base_url=HOME)
    assert other.get(f"{place}/columns").status_code == 404
    other.cookies.set(f"debandit-{PORT}", f"{client.cookies[f'debandit-{PORT}'].partition('.')[0]}.0000")
    assert other.get(f"{place}/columns").status_code == 404
    stolen = {"token": token_of(client), "name": "ecmo"}  # a token is good for its own session only
    assert other.post("/datasets", data=stolen).status_code == 403


@pytest.mark.parametrize("path", ["/", "/static/app.css", "/nothing", "/static/../server.py", "/logs/x/columns"])
def test_all_answers_forbid_what_no_page_needs(client, path):
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert "import" not in answer.text or path == "/"


def test_files_that_are_too_large_are_refused(client, tmp_path):
    token = token_of(client)
    answer = client.post("/logs", data={"token": token}, files={"file": ("a.csv", b"x" * (MOST_BYTES + 1))})
    assert answer.status_code == 413
    assert "the file has more than" in text_of(answer)
    answer = client.post("/datasets", data={"token": token, "name": "x" * 300_000})
    assert answer.status_code == 413


def test_a_body_that_does_not_come_is_not_waited_for(client, monkeypatch):
    """Neither that of a form nor that of a file; a page that takes its time is another matter."""
    monkeypatch.setattr("debandit.app.guard.FORM_SECONDS", 0.2)
    monkeypatch.setattr("debandit.app.guard.UPLOAD_SECONDS", 0.2)

    async def asked(path, kind):
        async def receive():
            await asyncio.sleep(60)

        async def send(message):
            sent.append(message)

        sent = []
        headers = [(b"host", f"127.0.0.1:{PORT}".encode()), (b"content-type", kind)]
        about = {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers}
        await client.app(
            {"type": "http", "method": "POST", "scheme": "http", "http_version": "1.1", **about}, receive, send
        )
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])

    for path, kind in (
        ("/datasets", b"application/x-www-form-urlencoded"),
        ("/logs", b"multipart/form-data; boundary=x"),
    ):
        status, page = asyncio.run(asked(path, kind))
        assert status == 408
        assert b"took too long" in page


def test_no_room_for_a_file(client, monkeypatch):
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "disk is full")))
    for path, what in (("/logs", {"files": {"file": ("a.csv", DAYS)}}), ("/datasets", {})):
        answer = client.post(path, data={"token": token_of(client), "name": "ecmo"}, **what)
        assert answer.status_code == 507
        assert "disk is full" in text_of(answer)


def test_hostile_labels_and_columns_are_inert(client):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    quoted = '"' + evil.replace('"', '""') + '"'
    rows = "".join(f"{quoted if t % 2 else 'b'},{t % 3 % 2},{quoted}\n" for t in range(30))
    place = sent(client, f"arm,reward,{quoted}\n{rows}", f"{evil.replace('/', '')}.csv")
    pages = [client.get(f"{place}/columns"), say(client, f"{place}/rule", by="text", text=evil)]
    pages.append(say(client, f"{place}/rule", by="text", text="uniform"))
    pages.append(client.get(f"{place}/options"))
    pages.append(say(client, f"{place}/options", runs="50", control_variates="on", control=evil))
    pages += [client.get(f"{place}/report.html"), client.get("/")]
    assert pages[4].url.path.endswith("/report")
    for page in pages:
        assert "<img" not in page.text
        assert "<script>" not in page.text
    assert evil[:8] in text_of(pages[0])


# what is kept, and for how long


def test_nothing_is_kept_when_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "debandit-app-killed"
    left.mkdir()
    (left / "lock").touch()
    (left / "log").write_text("secret")
    with TestClient(App(PORT, MOST_BYTES).guarded(), base_url=HOME) as client:
        assert not left.exists()  # what an app that was killed left behind
        place = sent(client)
        (folder,) = tmp_path.glob("debandit-app-*")
        assert [path.read_text() for path in folder.glob("*/log")] == [DAYS]
        assert folder.stat().st_mode & 0o077 == 0
        with TestClient(App(PORT + 1, MOST_BYTES).guarded(), base_url=f"http://127.0.0.1:{PORT + 1}"):
            assert folder.exists()  # another one leaves it alone
        say(client, f"{place}/forget")
        assert not list(folder.glob("*/log"))
        sent(client)
    assert not list(tmp_path.iterdir())
