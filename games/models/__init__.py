from games.models.access import (
    AccessRecord,
    AccessReview,
    AccessReviewLine,
    AccessReviewMark,
    AccessReviewSignature,
)
from games.models.account import AccountDecision, AccountLink, AccountLinkEnd, AccountProposal
from games.models.casino import Casino, Pit
from games.models.denial import Denial
from games.models.dice import DiceFit, DiceInspection, DiceSet
from games.models.duty import Duty
from games.models.factor import FactorReset, FactorResetConfirmation, Passkey
from games.models.ledger import LedgerChain, LedgerLeaf
from games.models.limits import (
    DifferentialLine,
    LimitDecision,
    LimitLine,
    LimitProposal,
    LimitSet,
    LimitSheet,
    ProposedSign,
)
from games.models.live import LiveRound, LiveStep, LiveWarning
from games.models.login import FailedLogin, LoginSession, LoginThrottle
from games.models.preset import LimitPreset
from games.models.round import ImportedFile, ImportJob, Outbox, RecordingConflict, Round, RoundBet
from games.models.settlement import SettlementPolicy
from games.models.sign import SignPrint
from games.models.staff import Staff
from games.models.table import OpeningCheck, Table, TableAssignment, TableState, TableStep
from games.models.terminal import Terminal, TerminalTable, TerminalUse
from games.models.threshold import ThresholdChange, ThresholdDecision
from games.models.tumbler import Tumbler, TumblerFit, TumblerInspection

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
