import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents.wording import counted
from config import doctor
from config.doctor import Level

TROUBLE = 1
MARKS = {Level.OK: "ok  ", Level.NOTE: "note", Level.TROUBLE: "!!  "}


class Command(BaseCommand):
    help = (
        "Looks whether all is in order: database, rules, rows, embedding model, worker and beat, "
        "broker, language model, disk. Says how to mend what is not, and changes nothing itself. "
        "Exit code 0: all is well, or only noted. 1: there is trouble."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
        parser.add_argument(
            "--llm",
            action="store_true",
            help="ask the language model a real question (some tokens)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = []
        for finding in doctor.examine(ask_llm=options["llm"]):
            found.append(finding)
            if not options["json"]:
                self._tell(finding)
        bad = [finding for finding in found if finding.level == Level.TROUBLE]
        if options["json"]:
            told = {"ok": not bad, "findings": [asdict(finding) for finding in found]}
            self.stdout.write(json.dumps(told, indent=1))
        else:
            self.stdout.write(
                f"Trouble with {counted(len(bad), 'part')}." if bad else "All is well."
            )
        if bad:
            sys.exit(TROUBLE)

    def _tell(self, finding: doctor.Finding) -> None:
        self.stdout.write(f"{MARKS[finding.level]} {finding.check}: {finding.said}")
        if finding.mend:
            self.stdout.write(f"     → {finding.mend}")
