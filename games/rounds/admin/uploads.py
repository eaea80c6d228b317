"""Uploaded files of rounds: uploaded here, imported by a worker, with their progress."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.csrf import csrf_exempt
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget

from games.access.gate import authorize
from games.models import ImportJob
from games.pages.gated import GatedAdmin, actor_of, add_errors, require_safe
from games.rounds.services.uploads import upload_accept

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

    def get_urls(self) -> list[URLPattern]:
        """Route the upload page so that the gate is asked before the CSRF check reads the form."""
        return [path("add/", self.upload_view(), name="games_importjob_add"), *super().get_urls()]

    def upload_view(self) -> Any:
        protected = self.admin_site.admin_view(self.add_view)

        @csrf_exempt
        def view(request: HttpRequest) -> HttpResponseBase:
            if not self.admin_site.has_permission(request):
                return redirect_to_login(request.get_full_path(), reverse("admin:login"))
            authorize(actor_of(request), "importjob.add")
            answer: HttpResponseBase = protected(request)
            return answer

        return view

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
                add_errors(form, error)
            else:
                messages.success(request, f"{job} is being imported.")
                return redirect("admin:games_importjob_change", job.pk)
        context = {**self.admin_site.each_context(request), "title": "Upload rounds", "form": form, "opts": self.opts}
        return TemplateResponse(request, "rounds/upload.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        job: ImportJob | None = self.get_object(request, object_id)
        if job is None:
            raise Http404(f"There is no upload {object_id}.")
        authorize(actor_of(request), "importjob.view", job)
        context = {**self.admin_site.each_context(request), "title": str(job), "original": job, "job": job,
                   "repeated": job.rounds - job.new, "opts": self.opts}  # fmt: skip
        return TemplateResponse(request, "rounds/import_job.html", context)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
