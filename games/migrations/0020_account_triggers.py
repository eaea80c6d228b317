"""What no single row can say of accounts: a link is used in time, a decision is on its own proposal, a signed review
has every account marked and stays as it is."""

from django.db import migrations

LINK = """
CREATE FUNCTION account_link_used_in_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.how = 'used' AND NOT EXISTS (
        SELECT 1 FROM games_accountlink l WHERE l.id = NEW.link_id AND NEW.at >= l.made_at AND NEW.at < l.expires_at)
    THEN
        RAISE EXCEPTION 'Sign-in link % is past its time: "account_link_used_in_time".', NEW.link_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER account_link_used_in_time BEFORE INSERT ON games_accountlinkend
    FOR EACH ROW EXECUTE FUNCTION account_link_used_in_time();
"""

DECISION = """
CREATE FUNCTION account_decision_as_proposed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM games_accountproposal p WHERE p.id = NEW.proposal_id AND p.staff_id = NEW.staff_id
        AND p.proposed_by_id IS NOT DISTINCT FROM NEW.proposed_by_id)
    THEN
        RAISE EXCEPTION 'The decision names another account or proposer: "account_decision_as_proposed".'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER account_decision_as_proposed BEFORE INSERT ON games_accountdecision
    FOR EACH ROW EXECUTE FUNCTION account_decision_as_proposed();
"""

#: Marks and signature take the same lock, so that neither overlooks the other.
REVIEW = """
CREATE FUNCTION access_review_still_open() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE reviewed bigint;
BEGIN
    IF TG_TABLE_NAME = 'games_accessreviewline' THEN
        reviewed := NEW.review_id;
    ELSE
        SELECT l.review_id INTO reviewed FROM games_accessreviewline l WHERE l.id = NEW.line_id;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(7241511, (reviewed % 2147483647)::int);
    IF EXISTS (SELECT 1 FROM games_accessreviewsignature s WHERE s.review_id = reviewed) THEN
        RAISE EXCEPTION 'Access review % is signed: "access_review_still_open".', reviewed
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION access_review_complete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7241511, (NEW.review_id % 2147483647)::int);
    IF EXISTS (
        SELECT 1 FROM games_accessreviewline l WHERE l.review_id = NEW.review_id
        AND NOT EXISTS (SELECT 1 FROM games_accessreviewmark m WHERE m.line_id = l.id))
    THEN
        RAISE EXCEPTION 'Access review % has accounts without a mark: "access_review_complete".', NEW.review_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER access_review_still_open BEFORE INSERT ON games_accessreviewline
    FOR EACH ROW EXECUTE FUNCTION access_review_still_open();
CREATE TRIGGER access_review_still_open BEFORE INSERT ON games_accessreviewmark
    FOR EACH ROW EXECUTE FUNCTION access_review_still_open();
CREATE TRIGGER access_review_complete BEFORE INSERT ON games_accessreviewsignature
    FOR EACH ROW EXECUTE FUNCTION access_review_complete();
"""


class Migration(migrations.Migration):
    dependencies = [("games", "0019_accounts")]

    operations = [
        migrations.RunSQL(
            LINK,
            "DROP TRIGGER account_link_used_in_time ON games_accountlinkend; "
            "DROP FUNCTION account_link_used_in_time()",
        ),
        migrations.RunSQL(
            DECISION,
            "DROP TRIGGER account_decision_as_proposed ON games_accountdecision; "
            "DROP FUNCTION account_decision_as_proposed()",
        ),
        migrations.RunSQL(
            REVIEW,
            "DROP TRIGGER access_review_complete ON games_accessreviewsignature; "
            "DROP TRIGGER access_review_still_open ON games_accessreviewmark; "
            "DROP TRIGGER access_review_still_open ON games_accessreviewline; "
            "DROP FUNCTION access_review_complete(); DROP FUNCTION access_review_still_open()",
        ),
    ]
