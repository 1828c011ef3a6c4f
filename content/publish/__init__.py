"""Builds the site: `./build.sh` runs `python -m publish` in the project's own environment."""
