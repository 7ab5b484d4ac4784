# Make the cluster, its owner and its database on the first start, as the official image does.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    secret=$(mktemp)
    echo "$POSTGRES_PASSWORD" >"$secret"
    initdb -U "$POSTGRES_USER" --pwfile="$secret" --auth=scram-sha-256 --auth-local=trust -E UTF8
    rm "$secret"
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    pg_ctl -w -o '-c listen_addresses=' start
    createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl -w stop
fi
exec postgres -c listen_addresses='*'
