from games.models.casino import Casino, Pit
from games.models.denial import Denial
from games.models.duty import Duty
from games.models.staff import Staff

__all__ = ["Casino", "Denial", "Duty", "Pit", "Staff"]
