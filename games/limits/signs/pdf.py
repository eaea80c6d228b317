"""Write a sign as a PDF with typst."""

import json
from pathlib import Path

import typst

from games.limits.signs.labels import from_text, printed_text, rulebook_text, rules_text
from games.limits.signs.sign import Sign
from games.models import SignPrint

TEMPLATE = Path(__file__).with_name("sign.typ")


def sign_pdf(sign: Sign, printed: SignPrint) -> bytes:
    content = {
        "title": f"Sign of {sign.table}",
        "casino": sign.table.casino.name,
        "table": sign.table.code,
        "currency": sign.currency,
        "reprint": printed.is_reprint,
        "number": printed.number,
        "rows": [
            {"name": row.name, "boxes": row.boxes, "minimum": row.minimum, "maximum": row.maximum, "odds": row.odds}
            for row in sign.rows
        ],
        "differentials": sign.differentials,
        "from": from_text(sign),
        "rulebook": rulebook_text(sign),
        "rules": rules_text(sign),
        "notice": sign.notice,
        "printed": printed_text(sign, printed),
    }
    pdf: bytes = typst.compile(TEMPLATE, sys_inputs={"sign": json.dumps(content)}, format="pdf")
    return pdf
