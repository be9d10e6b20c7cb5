"""Makes pages of a site out of pages that are written to be read in the repository."""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^(```\w+) .*$", re.MULTILINE)  # what test/docs is told about a block
LINK = re.compile(r"(?<=\]\()[^)\s#:]+")


def on_page_markdown(markdown, page, config, files, **_):
    """Links to what the site does not have, programs and folders, lead into the repository, when it has them."""

    def outside(match):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), match[0]))
        if files.get_file_from_path(path) or not (ROOT / path).exists():
            return match[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{config.repo_url}/{kind}/main/{path}"

    return LINK.sub(outside, FENCE.sub(r"\1", markdown))
