#!/bin/sh
# Runs once, as the superuser, when the database's volume is new. The same roles, extensions and
# rights that config/embedded.py makes; a test compares the two.
set -e
: "${OWNER_PASSWORD:?}" "${APP_PASSWORD:?}"
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set owner_password="$OWNER_PASSWORD" --set app_password="$APP_PASSWORD" \
  --set database="$POSTGRES_DB" <<'SQL'
CREATE ROLE remembrancer_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE remembrancer_app LOGIN PASSWORD :'app_password';
ALTER DATABASE :"database" OWNER TO remembrancer_owner;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS unaccent;
CREATE EXTENSION IF NOT EXISTS btree_gin;
ALTER SCHEMA public OWNER TO remembrancer_owner;
GRANT USAGE ON SCHEMA public TO remembrancer_app;
ALTER DEFAULT PRIVILEGES FOR ROLE remembrancer_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO remembrancer_app;
ALTER DEFAULT PRIVILEGES FOR ROLE remembrancer_owner GRANT USAGE, SELECT ON SEQUENCES TO remembrancer_app;
SQL
