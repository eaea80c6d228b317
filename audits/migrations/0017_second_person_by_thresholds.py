"""The amount from which a change of a settled round takes two people is the one that compliance put in force."""

from django.db import migrations

NOW = """
CREATE OR REPLACE FUNCTION second_person_from(of_casino bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT (c.proposed ->> 'second_person_from')::bigint
         FROM games_thresholddecision d JOIN games_thresholdchange c ON c.id = d.change_id
         WHERE c.casino_id = of_casino AND c.kind = 'rulings' AND d.outcome = 'approved'
           AND d.effective_from <= clock_timestamp() ORDER BY d.effective_from DESC, d.id DESC LIMIT 1),
        (SELECT s.second_person_from FROM audits_rulingsetting s WHERE s.casino_id = of_casino), 0)
$$
"""
BEFORE = """
CREATE OR REPLACE FUNCTION second_person_from(of_casino bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT s.second_person_from FROM audits_rulingsetting s WHERE s.casino_id = of_casino), 0)
$$
"""


class Migration(migrations.Migration):
    dependencies = [("audits", "0016_keys_that_tell_nothing"), ("games", "0023_thresholds")]
    operations = [migrations.RunSQL(NOW, BEFORE)]
