from games.access.models.access_review import (
    AccessRecord,
    AccessReview,
    AccessReviewLine,
    AccessReviewMark,
    AccessReviewSignature,
)
from games.access.models.acting_appointment import Duty
from games.access.models.denial import Denial
from games.access.models.staff import Staff
from games.accounts.models.account import AccountDecision, AccountLink, AccountLinkEnd, AccountProposal
from games.accounts.models.login import FailedLogin, LoginSession, LoginThrottle
from games.accounts.models.second_factor import FactorReset, FactorResetConfirmation, Passkey
from games.floor.models.casino import Casino, Pit
from games.floor.models.dice import DiceFit, DiceInspection, DiceSet
from games.floor.models.table import OpeningCheck, Table, TableAssignment, TableState, TableStep
from games.floor.models.tumbler import Tumbler, TumblerFit, TumblerInspection
from games.ledger.models import LedgerChain, LedgerLeaf
from games.limits.models.limits import (
    DifferentialLine,
    LimitDecision,
    LimitLine,
    LimitProposal,
    LimitSet,
    LimitSheet,
    ProposedSign,
)
from games.limits.models.preset import LimitPreset
from games.limits.models.sign_print import SignPrint
from games.live.models import LiveRound, LiveStep, LiveWarning
from games.rounds.models import ImportedFile, ImportJob, Outbox, RecordingConflict, Round, RoundBet
from games.settlement_policies.models import SettlementPolicy
from games.terminals.models import Terminal, TerminalTable, TerminalUse
from games.thresholds.models import ThresholdChange, ThresholdDecision

__all__ = [
    "AccessRecord",
    "AccessReview",
    "AccessReviewLine",
    "AccessReviewMark",
    "AccessReviewSignature",
    "AccountDecision",
    "AccountLink",
    "AccountLinkEnd",
    "AccountProposal",
    "Casino",
    "Denial",
    "DiceFit",
    "DiceInspection",
    "DiceSet",
    "DifferentialLine",
    "Duty",
    "FactorReset",
    "FactorResetConfirmation",
    "FailedLogin",
    "ImportJob",
    "ImportedFile",
    "LedgerChain",
    "LedgerLeaf",
    "LimitDecision",
    "LimitLine",
    "LimitPreset",
    "LimitProposal",
    "LimitSet",
    "LimitSheet",
    "LiveRound",
    "LiveStep",
    "LiveWarning",
    "LoginSession",
    "LoginThrottle",
    "OpeningCheck",
    "Outbox",
    "Passkey",
    "Pit",
    "ProposedSign",
    "RecordingConflict",
    "Round",
    "RoundBet",
    "SettlementPolicy",
    "SignPrint",
    "Staff",
    "Table",
    "TableAssignment",
    "TableState",
    "TableStep",
    "Terminal",
    "TerminalTable",
    "TerminalUse",
    "ThresholdChange",
    "ThresholdDecision",
    "Tumbler",
    "TumblerFit",
    "TumblerInspection",
]
