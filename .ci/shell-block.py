"""Prints the Nth shell block of a Markdown file: shell-block.py FILE N"""

import re
import sys

path, number = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    blocks = re.findall(r"^```sh\n(.*?)^```", file.read(), re.M | re.S)
sys.stdout.write(blocks[int(number) - 1])
