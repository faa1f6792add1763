from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / 'sql'
FUNCTIONS = (SQL / '0015_terms_of_any_fact.sql').read_text()
# The function that came before, as the second migration has it.
EARLIER = (SQL / '0002_terms.sql').read_text()
START = EARLIER.index('CREATE FUNCTION remembrancer_index_facts')
END = EARLIER.index('CREATE FUNCTION remembrancer_facts_born')
BACK = EARLIER[START:END].replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION') + """
    DROP FUNCTION remembrancer_terms_of_facts;
"""


class Migration(migrations.Migration):

    dependencies = [('memory', '0014_consolidation_on_request')]

    operations = [migrations.RunSQL(FUNCTIONS, BACK)]
