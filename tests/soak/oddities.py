"""What odd requests are made of."""

#: What stands for an id, a page number, a date or a text, and is none, or is one that nobody has thought of.
ODD = [
    "", " ", "0", "-1", "1.5", "1e9", "nan", "9" * 19, "9" * 30, "9" * 5000, "٣", "1_0", "None", "null", "true", "on",
    "\x00", "1\x00", "%00", "%", "%zz", "_5F", "_", "'", '"', "'; DROP TABLE games_staff; --", "<script>alert(1)",
    "{{ 7 }}", "{}", "[]", "*", "a" * 300, "../../etc/passwd", "//", ".", "\\", "\r\nSet-Cookie: a=b", "\u202e", "é",
    "𝔘", "\ufffe", "2026-02-30", "0001-01-01", "9999-12-31", "24:00", "99999-01-01", "0000-00-00",
]  # fmt: skip

#: What is there in the house, or would do in a form: with these a request gets further before it becomes odd.
SOUND = [
    "1", "2", "3", "5", "8", "games", "staff", "duty", "RWS", "pit", "dealer", "shift-manager", "2027-01-01", "08:00",
]  # fmt: skip

PARAMETERS = [
    "o", "p", "q", "all", "e", "_popup", "_to_field", "_changelist_filters", "_facets", "next", "term", "page",
    "app_label", "model_name", "field_name", "at__year", "at__month", "at__day", "at__gte", "at__date", "casino",
    "casino__id__exact", "pit__isnull", "department", "department__exact", "post__in", "is_active__exact", "format",
    "status__exact", "staff__password__startswith", "history__history_user__password", "pk__in", "id__range",
    "no_such_field", "_page", "csrfmiddlewaretoken",
]  # fmt: skip
QUERIES = ["%00=%ff", "&&==&=", "q=%", "?" * 50, "p=1&" * 1200, "o=" + "1." * 500, "%ff%fe"]

#: Every field that a form of the site has, filled in soundly.
FIELDS = {
    "reason": "Because", "number": "N1", "name": "Somebody", "department": "pit", "post": "shift-manager",
    "casino": "1", "pit": "1", "is_active": "on", "code": "P9", "timezone": "Asia/Singapore", "currency": "SGD",
    "gaming_day_starts": "06:00", "staff": "2", "starts_at_0": "2027-01-01", "starts_at_1": "08:00",
    "ends_at_0": "2027-01-02", "ends_at_1": "08:00", "username": "AUDITOR", "password": "correct horse battery",
    "again": "correct horse battery", "old_password": "correct horse battery", "next": "//elsewhere.example/",
    "new_password1": "another horse battery", "new_password2": "another horse battery", "action": "delete_selected",
    "select_across": "1", "index": "0", "form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": "1",
}  # fmt: skip
#: What the admin's own buttons and pop-ups add to a form.
BUTTONS = {
    "_save": "1", "_continue": "1", "_addanother": "1", "_saveasnew": "1", "_popup": "1", "_to_field": "id",
    "_change_history": "1", "_selected_action": "1",
}  # fmt: skip

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
BODIES: list[tuple[bytes, str]] = [
    (b"", FORM),
    (b"%00=%ff&reason=\xff\xfe", FORM),
    (b"a=1&" * 1200, FORM),
    (b"reason=" + b"x" * 3_000_000, FORM),
    (b"reason=x", f"{FORM}; charset=no-such-charset"),
    (b"no boundary", "multipart/form-data"),
    (b'--b\r\nContent-Disposition: form-data; name="reason"\r\n\r\ncut sho', MULTIPART),
    (b'--b\r\nContent-Disposition: form-data; name="reason"; filename="a"\r\n\r\nx\r\n--b--', MULTIPART),
    (b"--b\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!\r\n--b--", MULTIPART),
    (b'{"reason": ', "application/json"),
    (b"\x00\x01", "application/octet-stream"),
    (b"<a/>", "text/xml; ;;=;"),
]

METHODS = ["GET"] * 10 + ["POST"] * 10 + ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "BREW"]
HEADERS = [
    ("host", "elsewhere.example"),
    ("accept-language", "xx-" + "y" * 600),
    ("accept", "nothing/at-all;q=nan"),
    ("cookie", "taisai_csrf=short; messages=[[; ; =; taisai_session"),
    ("cookie", r'taisai_session="not-a-session\000"'),
    ("referer", "http://["),
    ("origin", "null"),
    ("if-modified-since", "Someday, 99 Foo 0000"),
    ("range", "bytes=9-1"),
    ("x-request-id", "x" * 5000),
    ("x-forwarded-for", "not an address"),
    ("hx-request", "true"),
    ("content-length", "-1"),
]
