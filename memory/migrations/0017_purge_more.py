from pathlib import Path

from django.db import migrations


MORE = (Path(__file__).parent.parent / 'sql' / '0017_purge_more.sql').read_text()
DROP = 'DROP FUNCTION remembrancer_purges_repairs, remembrancer_purges_accounts'


class Migration(migrations.Migration):

    dependencies = [('memory', '0016_review_desk')]

    operations = [migrations.RunSQL(MORE, DROP)]
