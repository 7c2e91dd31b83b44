"""The helpers see what they must see: each page here does one thing that no page of ours may do."""

import http.server
import threading

import pytest
from browsing import PHONE, fits_its_width, fits_on_paper, no_serious_findings, tables_of

WIDE = "<table><tr>" + "<td>wide&nbsp;cell</td>" * 40 + "</tr></table>"


@pytest.fixture
def page_of(visit, tmp_path):
    def write(body, **options):
        path = tmp_path / "page.html"
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Page</title>'
        path.write_text(f'<!doctype html><html lang="en">{head}<main><h1>Page</h1>{body}</main></html>')
        return visit(path, **options)

    return write


def test_a_good_page_passes(page_of):
    page = page_of("<p>Good.</p><table><tr><th>a</th></tr><tr><td>1</td></tr></table>", **PHONE)
    no_serious_findings(page)
    fits_its_width(page)
    fits_on_paper(page)
    assert tables_of(page) == [[["a"], ["1"]]]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<script>console.error('oh')</script>", "oh"),
        ("<script>null.oh</script>", "page error"),
        ("<img alt='' src='http://example.com/a.png'>", "fetched from elsewhere: http://example.com/a.png"),
        ("<script>fetch('http://localhost:1/').catch(() => 0)</script>", "fetched from elsewhere"),
    ],
)
def test_complaints_are_noted(page_of, visit, body, complaint):
    page_of(body).wait_for_timeout(50)
    assert any(complaint in each for each in visit.complaints), visit.complaints
    visit.complaints.clear()


@pytest.mark.parametrize(
    "body", ["<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>", "<p style='color:#ddd'>Pale"]
)
def test_serious_findings_are_found(page_of, body):
    with pytest.raises(AssertionError, match=r"serious|critical"):
        no_serious_findings(page_of(body))


def test_what_is_too_wide_is_found(page_of):
    with pytest.raises(AssertionError, match="wide"):
        fits_its_width(page_of(WIDE, **PHONE))
    with pytest.raises(AssertionError, match="beyond the edge"):
        fits_on_paper(page_of(WIDE))
    scrolled = page_of(f'<div style="overflow-x:auto">{WIDE}</div>', **PHONE)
    fits_its_width(scrolled)
    with pytest.raises(AssertionError):
        fits_on_paper(scrolled)


def test_a_server_on_this_machine_may_be_asked(visit):
    """The app's pages are read from one."""

    class Hello(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!doctype html><html lang=en><link rel=icon href='data:,'><title>Hello</title>Hello")

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Hello) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert visit(f"http://127.0.0.1:{server.server_port}/").title() == "Hello"
        server.shutdown()
