# Tasks of a contributor. `just` lists them.
default:
    @just --list

# Lint, types and import contracts
check:
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/mypy
    PYTHONPATH=. .venv/bin/lint-imports

# Format the code
fix:
    .venv/bin/ruff check --fix .
    .venv/bin/ruff format .

# Run tests, for example `just test tests/api`
test *arguments:
    ./farm test {{arguments}}

# Write a database migration, for example `just migration "Keep colours"`
migration message:
    .venv/bin/python -m cluster.embedded.new_migration '{{message}}'

# Build the documentation into out/docs, or show it: `just docs --serve`
docs *arguments:
    ./farm docs {{arguments}}

# Everything that must hold before a change lands
ci:
    .ci/run
