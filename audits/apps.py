from django.apps import AppConfig


class AuditsConfig(AppConfig):
    name = "audits"
    verbose_name = "Audits"

    def ready(self) -> None:
        # Here, because Django reads this module before any model can be imported.
        from audits.rulings.corrections.corrected_rounds import corrected_rounds
        from games.rounds.current_status import read_corrections_with

        read_corrections_with(corrected_rounds)
