"""Evidence: an upload that is bounded before it is set down, a page with hash and custody, and a copy to take away."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.csrf import csrf_exempt
from unfold.widgets import UnfoldAdminFileFieldWidget

from audits.incidents.admin import fields
from audits.incidents.evidence.file_types import LISTED, TYPES
from audits.incidents.services.evidence import MEGABYTE, camera_add, evidence_add, evidence_open
from audits.models import CustodyStep, Evidence, Incident, LogEntry
from games.access.gate import authorize, can, visible
from games.access.roles import CONFIDENTIAL
from games.access.services.access_records import confidential_read
from games.models import Staff
from games.pages.gated import Button, actor_of, add_errors, require_safe
from games.pages.paging import keyset_page
from games.pages.written_once import WrittenOnceAdmin
from taisai_backoffice.web.uploads import BoundedUploadHandler

#: What a form has beside its file: names, boundaries, the other fields.
AROUND = 256 * 1024
#: Whatever it is, it runs nothing and asks for nothing.
HARMLESS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


class BoundedUpload(FileUploadHandler):
    """Stops a file that is too large: by the size it announces at once, else where the bound is reached."""

    seen = 0
    is_too_large = False

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,  # noqa: N803  by its name in Django
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        self.is_too_large = content_length > settings.LARGEST_EVIDENCE + AROUND

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._verify()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.seen += len(raw_data)
        self.is_too_large = self.is_too_large or self.seen > settings.LARGEST_EVIDENCE
        self._verify()
        return raw_data

    def _verify(self) -> None:
        if self.is_too_large:
            raise StopUpload(connection_reset=True)  # the rest is not even read

    def file_complete(self, file_size: int) -> None:
        return None


class EvidenceForm(forms.Form):
    """A file, or where a recording is found that stays where it is."""

    description = fields.text_field("What it shows", required=True, most=2000, rows=2)
    file = forms.FileField(required=False, widget=UnfoldAdminFileFieldWidget())
    camera = fields.text_field("Camera", most=60, placeholder="PTZ-114")
    time_code = fields.text_field("Time code", most=40, placeholder="21:07:33:12")
    recording = fields.text_field("Where the recording is", most=500)
    keep_until = fields.day_field("Keep the recording until")

    def __init__(self, *args: Any, actor: Staff, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_too_large = False
        largest = settings.LARGEST_EVIDENCE
        self.fields["file"].help_text = f"At most {largest // MEGABYTE or 1} MB: {LISTED}."
        self.fields["file"].widget.attrs |= {
            "accept": ",".join(f".{ending}" for endings in TYPES.values() for ending in endings),
            "data-largest": str(largest),
            "data-too-large": too_large(),
        }
        if can(actor, CONFIDENTIAL):
            self.fields["is_confidential"] = fields.confidential_field()

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self.is_too_large:
            self.add_error("file", too_large())
        elif values.get("file") and values.get("camera"):
            self.add_error("camera", "A file and a camera are two pieces of evidence; add one after the other.")
        elif not values.get("file") and not values.get("camera") and "file" not in self.errors:
            self.add_error(None, "Send a file, or name the camera whose recording shows it.")
        return values

    def add(self, actor: Staff, about: Incident | LogEntry) -> Evidence:
        values = self.cleaned_data
        said: dict[str, Any] = {
            "actor": actor, "about": about, "description": values["description"],
            "is_confidential": values.get("is_confidential", False),
        }  # fmt: skip
        if file := values["file"]:
            return evidence_add(name=file.name, content=file, **said)
        names = ("camera", "time_code", "recording", "keep_until")
        return camera_add(**said, **{name: values[name] for name in names})


def too_large() -> str:
    largest = settings.LARGEST_EVIDENCE
    shown = f"{largest // MEGABYTE} MB" if largest >= MEGABYTE else f"{largest} bytes"
    return f"This file is larger than {shown}, and nothing of it was kept; send a part, or name the camera."


def upload_page(site: Any, found: Callable[..., Any], back: Callable[[Any], str]) -> Any:
    """The page on which evidence is added to something. The gate is asked and the bound is set before a byte is read;
    that is why the check of the form's token, which reads it, comes after."""

    def page(request: HttpRequest, object_id: str) -> HttpResponse:
        actor, about = actor_of(request), found(request, object_id)
        form = EvidenceForm(actor=actor)
        if request.method == "POST":
            form = EvidenceForm(request.POST, request.FILES, actor=actor)
            form.is_too_large = any(
                getattr(upload_handler, "is_too_large", False) for upload_handler in request.upload_handlers
            )
            if form.is_valid():
                try:
                    evidence = form.add(actor, about)
                except ValidationError as error:
                    add_errors(form, error)
                else:
                    messages.success(request, f"Evidence {evidence} is added to {about}.")
                    return redirect(back(about))
        context = {**site.each_context(request), "title": f"Add evidence: {about}", "form": form, "back": back(about)}
        return TemplateResponse(request, "incidents/evidence_add.html", context)

    protected = site.admin_view(page)

    @csrf_exempt
    def view(request: HttpRequest, object_id: str) -> HttpResponseBase:
        if not site.has_permission(request):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        authorize(actor_of(request), "evidence.add", found(request, object_id))
        if request.method == "POST":
            request.upload_handlers = [BoundedUpload(request), BoundedUploadHandler(request)]
        answer: HttpResponseBase = protected(request, object_id)
        return answer

    return view


@admin.register(Evidence)
class EvidenceAdmin(WrittenOnceAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it is added to an entry or a file

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=f"audits_evidence_{name}")
            for name, view in (("copy", self.copy_view), ("picture", self.picture_view))
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "evidence.view")
        found = visible(actor, Evidence.objects.select_related("incident", "entry"))
        part = keyset_page(request, found, "at")
        confidential_read(actor, part.rows)
        context = self.page_context(request, "Evidence", part=part)
        return TemplateResponse(request, "incidents/evidence_list.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With a picture only where it is asked for: to look at it is a touch of its own."""
        require_safe(request)
        evidence: Evidence = self.get_or_deny(request, object_id)
        confidential_read(actor_of(request), [evidence])
        is_picture = evidence.is_file and evidence.content_type.startswith("image/")
        context = self.page_context(
            request, f"Evidence {evidence}", original=evidence, evidence=evidence,
            sha256=bytes(evidence.sha256 or b"").hex(), custody=evidence.custody.all(),
            picture=self.address(evidence, "picture") if is_picture and "look" in request.GET else "",
            buttons=[Button("?look=1", "Look at the picture", "visibility")] if is_picture else [],
            may_see_entry=evidence.entry is not None and can(request.user, "logentry.view", evidence.entry),
        )  # fmt: skip
        return TemplateResponse(request, "incidents/evidence.html", context)

    def copy_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """To take away, never to be shown by the browser; on record before it leaves."""
        evidence: Evidence = self.get_or_deny(request, object_id)
        if request.method != "POST":
            return redirect(self.address(evidence))
        return self._handed(request, evidence, CustodyStep.What.COPIED)

    def picture_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """For an <img> of ours; by itself it is shown as nothing but a picture."""
        require_safe(request)
        evidence: Evidence = self.get_or_deny(request, object_id)
        if not evidence.content_type.startswith("image/"):
            raise Http404(f"Evidence {evidence} is no picture.")
        return self._handed(request, evidence, CustodyStep.What.OPENED)

    def _handed(self, request: HttpRequest, evidence: Evidence, what: str) -> HttpResponseBase:
        try:
            file = evidence_open(actor=actor_of(request), evidence=evidence, what=what)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return redirect(self.address(evidence))
        is_copy = what == CustodyStep.What.COPIED
        kind = "application/octet-stream" if is_copy else evidence.content_type
        return FileResponse(
            file.open("rb"), as_attachment=is_copy, filename=evidence.name, content_type=kind, headers=HARMLESS
        )
