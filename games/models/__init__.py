from games.models.casino import Casino, Pit
from games.models.denial import Denial
from games.models.dice import DiceFit, DiceInspection, DiceSet
from games.models.duty import Duty
from games.models.ledger import LedgerChain, LedgerLeaf
from games.models.limits import DifferentialLine, LimitDecision, LimitLine, LimitProposal, LimitSet, LimitSheet
from games.models.live import LiveRound, LiveStep
from games.models.round import ImportedFile, ImportJob, Outbox, RecordingConflict, Round, RoundBet
from games.models.settlement import SettlementPolicy
from games.models.sign import SignPrint
from games.models.staff import Staff
from games.models.table import OpeningCheck, Table, TableAssignment, TableState, TableStep
from games.models.terminal import Terminal, TerminalTable, TerminalUse

__all__ = [
    "Casino",
    "Denial",
    "DiceFit",
    "DiceInspection",
    "DiceSet",
    "DifferentialLine",
    "Duty",
    "ImportJob",
    "ImportedFile",
    "LedgerChain",
    "LedgerLeaf",
    "LimitDecision",
    "LimitLine",
    "LimitProposal",
    "LimitSet",
    "LimitSheet",
    "LiveRound",
    "LiveStep",
    "OpeningCheck",
    "Outbox",
    "Pit",
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
]
