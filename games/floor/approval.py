"""Whether a rule document was approved for the casino, in the same words on pages, signs and reports."""

from enum import StrEnum

from games.engine.rules.rulebook import Rulebook
from games.models import Casino


class CasinoApproval(StrEnum):
    APPROVED = "approved"
    BY_AGREEMENT = "by-agreement"
    OPERATOR_NOT_NAMED = "operator-not-named"
    DOCUMENT_SILENT = "document-silent"


TEXTS = {
    CasinoApproval.APPROVED: "These rules are approved for this casino.",
    CasinoApproval.BY_AGREEMENT: "These rules are used by agreement. They are not approved for this casino.",
    CasinoApproval.OPERATOR_NOT_NAMED: "The operator of this casino is not recorded. Approval not checked.",
    CasinoApproval.DOCUMENT_SILENT: "The document names no operator. Approval not checked.",
}


def approval_of(book: Rulebook, casino: Casino) -> CasinoApproval:
    """Compare the operator named in the document with the casino's operator."""
    if not book.approved_for.operator:
        return CasinoApproval.DOCUMENT_SILENT
    if not casino.operator.strip():
        return CasinoApproval.OPERATOR_NOT_NAMED
    return CasinoApproval.APPROVED if book.approved_for.names(casino.operator) else CasinoApproval.BY_AGREEMENT


def approval_text(book: Rulebook, casino: Casino) -> str:
    """State the approval of a rule document in one sentence."""
    return TEXTS[approval_of(book, casino)]


def approval_notice(book: Rulebook, casino: Casino) -> str:
    """Return the sentence that a sign and a report must show; empty if the rules are approved or nothing is known."""
    approval = approval_of(book, casino)
    return TEXTS[approval] if approval is CasinoApproval.BY_AGREEMENT else ""
