# The server set-up: see docker-compose.yml, which runs this image as web server, worker and beat.
FROM python:3.13-slim

# pip's own settings, such as an index with CPU builds of torch, which are much smaller:
#   docker compose build --build-arg PIP_EXTRA_INDEX_URL=...
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 PYTHONPATH=/app \
    REMEMBRANCER_HOME=/data

# What the package that recognises text in images links to.
RUN apt-get update && apt-get install --yes --no-install-recommends libgl1 libglib2.0-0 \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 10001 remembrancer && install -d -o remembrancer /data
WORKDIR /app

# Dependencies first: they change less often than the code.
COPY pyproject.toml README.md LICENSE ./
RUN pip install --no-cache-dir --editable .

COPY . .
# These values are used by this one command and are not kept in the image.
RUN DATABASE_URL=postgres://build/build SECRET_KEY=build HASH_KEY=build \
    python manage.py collectstatic --no-input

USER remembrancer
EXPOSE 8000
CMD ["docker/web"]
