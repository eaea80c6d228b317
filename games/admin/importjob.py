"""Uploads of files of rounds: sent here, taken in by a worker, with how far it has come."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget

from games.admin.gated import GatedAdmin, actor_of, only_to_look, tell
from games.models import ImportJob
from games.services.gate import authorize
from games.services.uploads import upload_accept

STATE_COLOURS = {"waiting": "info", "running": "warning", "done": "success", "refused": "danger"}


class UploadForm(forms.Form):
    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget(),
        help_text="Rounds, one a line (NDJSON), also gzipped. All of it or nothing.",
    )


@admin.register(ImportJob)
class ImportJobAdmin(GatedAdmin):
    list_display = ["created_at", "name", "condition", "rounds", "new", "by"]
    list_filter = ["state"]
    list_select_related = ["by"]

    @display(description="State", label=STATE_COLOURS, ordering="state")
    def condition(self, job: ImportJob) -> str:
        return job.state

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        actor = actor_of(request)
        authorize(actor, "importjob.add")
        form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
        if request.method == "POST" and form.is_valid():
            file = form.cleaned_data["file"]
            try:
                job = upload_accept(actor=actor, name=file.name, content=file)
            except ValidationError as error:
                tell(form, error)
            else:
                messages.success(request, f"{job} is on its way.")
                return redirect("admin:games_importjob_change", job.pk)
        context = {**self.admin_site.each_context(request), "title": "Upload rounds", "form": form, "opts": self.opts}
        return TemplateResponse(request, "admin/upload.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        only_to_look(request)
        job: ImportJob | None = self.get_object(request, object_id)
        if job is None:
            raise Http404(f"There is no upload {object_id}.")
        authorize(actor_of(request), "importjob.view", job)
        context = {**self.admin_site.each_context(request), "title": str(job), "original": job, "job": job,
                   "repeated": job.rounds - job.new, "opts": self.opts}  # fmt: skip
        return TemplateResponse(request, "admin/import_job.html", context)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
