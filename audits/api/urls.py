"""Gather the API's addresses of the audits, subject by subject."""

from audits.incidents.api.urls import urlpatterns as incidents
from audits.reports.api.urls import urlpatterns as reports
from audits.rulings.api.urls import urlpatterns as rulings

urlpatterns = [*incidents, *rulings, *reports]
