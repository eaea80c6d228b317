from django.urls import path

from audits.reports.api import views

urlpatterns = [
    path("reports/", views.ReportList.as_view(), name="reports"),
    path("reports/<uuid:key>/", views.ReportDetail.as_view(), name="report"),
    path("reports/<uuid:key>/cancel/", views.ReportCancel.as_view(), name="report_cancel"),
    path("reports/<uuid:key>/file/", views.ReportFile.as_view(), name="report_file"),
]
