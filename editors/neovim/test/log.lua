-- A log of 64 ranks: what is marked, every command and list, and the fix. The working folder is a copy of the case.

local check = require("check")
local test, wait, text, has, equal = check.test, check.wait, check.text, check.has, check.equal

vim.o.columns, vim.o.lines = 120, 40

test("a source alone starts no server", function()
  vim.cmd.edit("engine/graphs.py")
  vim.bo.filetype = "python"
  equal(#vim.lsp.get_clients({ _uninitialized = true }), 0)
end)
local python = vim.api.nvim_get_current_buf()

vim.cmd.edit("train.log")
local log = vim.api.nvim_get_current_buf()
local initiating = check.statement(vim.api.nvim_buf_get_lines(log, 0, -1, false))

local function in_log(line)
  vim.cmd.only({ mods = { silent = true } })
  vim.api.nvim_set_current_buf(log)
  vim.api.nvim_win_set_cursor(0, { line or 1, 0 })
end

test("the initiating line has the one error, and what only followed is a faded hint", function()
  wait("diagnostics", function()
    return #vim.diagnostic.get(log) > 0
  end)
  local errors = vim.diagnostic.get(log, { severity = vim.diagnostic.severity.ERROR })
  equal({ #errors, errors[1].lnum + 1, errors[1].code }, { 1, initiating, "cuda-graph-capture-oom" })
  has(errors[1].message, "rank 17 started it", "63 collateral")
  local hints = vim.diagnostic.get(log, { severity = vim.diagnostic.severity.HINT })
  equal(#hints, 63)
  for _, hint in ipairs(hints) do
    assert(require("graphtrap.marks").is_collateral(hint), hint.message)
  end
end)

test("signs and texts mark both, in place of Neovim's own", function()
  local marks = wait("marks", function()
    return #check.marks(log) > 0 and check.marks(log)
  end)
  equal(#marks, 64)
  local first = marks[1]
  equal({ first[2] + 1, first[4].sign_text, first[4].sign_hl_group }, { initiating, ">>", "GraphTrapInitiator" })
  assert(first[4].virt_lines_above and not first[4].virt_text)
  has(first[4].virt_lines[1][1][1], "rank 17 started it")
  equal({ vim.trim(marks[2][4].sign_text), marks[2][4].sign_hl_group }, { "··", "GraphTrapCollateral" })
  has(marks[2][4].virt_text[1][1], "collateral of rank 17")
  for name, space in pairs(vim.api.nvim_get_namespaces()) do
    if name:find("diagnostic/signs") or name:find("diagnostic/virtual_text") then
      equal(#vim.api.nvim_buf_get_extmarks(log, space, 0, -1, {}), 0)
    end
  end
end)

test("the statusline says who", function()
  equal(require("graphtrap").statusline(log), "rank 17 started it: a CUDA graph capture ran out of memory")
  equal(require("graphtrap").statusline(python), "")
end)

test(":GraphTrap shows the answer and fills the location list", function()
  in_log()
  local page = check.page("GraphTrap")
  has(page, "# Rank 17 started it: a CUDA graph capture ran out of memory", "## Why", "Ranks 0-16, 18-63", "graph_pool_handle")
  equal({ vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0) }, { log, { 1, 0 } })
  local list = vim.fn.getloclist(0, { title = 0, items = 0 })
  equal(list.title, "graphtrap: Rank 17 started it: a CUDA graph capture ran out of memory")
  local first = list.items[1]
  equal({ first.bufnr, first.lnum, first.type }, { log, initiating, "E" })
  equal(#vim.tbl_filter(function(item)
    return item.type == "N"
  end, list.items), 63)
  has(list.items[2].text, "what failed was made inside a capture")
  vim.cmd("lfirst")
  equal(vim.api.nvim_win_get_cursor(0)[1], initiating)
end)

test(":GraphTrap! fills the list only", function()
  in_log()
  vim.fn.setloclist(0, {}, "f")
  vim.cmd("GraphTrap! diagnose")
  wait("the list", function()
    return #vim.fn.getloclist(0) > 64
  end)
  equal(#vim.api.nvim_list_wins(), 1)
end)

test("a selection is diagnosed by itself, with the log's line numbers", function()
  in_log(initiating - 12)
  vim.cmd("normal! V32jo\27")
  local page = check.page("'<,'>GraphTrap diagnose")
  has(page, "Rank 17 started it", ("line %d"):format(initiating))
  assert(not page:find("Ranks 0-16", 1, true), page)
end)

test(":GraphTrap report floats, and Enter follows its links", function()
  in_log()
  vim.cmd("GraphTrap report")
  wait("a report", function()
    return vim.b.graphtrap_page
  end)
  local window = vim.api.nvim_win_get_config(0)
  assert(window.relative == "editor" and window.width <= 80 and window.height <= 30, vim.inspect(window))
  vim.fn.search("line 9168")
  vim.cmd.normal(vim.keycode("<CR>"))
  equal({ vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] }, { log, 9168 })
  equal(#vim.api.nvim_list_wins(), 1)
end)

test(":vertical GraphTrap report splits", function()
  in_log()
  vim.cmd("vertical GraphTrap report")
  wait("a report", function()
    return vim.b.graphtrap_page
  end)
  equal({ vim.api.nvim_win_get_config(0).relative, vim.bo.filetype, #vim.api.nvim_list_wins() }, { "", "markdown", 2 })
  vim.cmd.normal("q")
  equal(#vim.api.nvim_list_wins(), 1)
end)

test(":GraphTrap initiator and next go from mark to mark, and round", function()
  in_log()
  vim.cmd("GraphTrap initiator")
  wait("the jump", function()
    return vim.api.nvim_win_get_cursor(0)[1] == initiating
  end)
  local seen = {}
  for _ = 1, 64 do
    vim.cmd("silent GraphTrap next")
    seen[vim.api.nvim_win_get_cursor(0)[1]] = true
  end
  equal({ vim.tbl_count(seen), vim.api.nvim_win_get_cursor(0)[1] }, { 64, initiating })
  vim.cmd.normal({ vim.keycode("<C-o>"), bang = true })
  assert(vim.api.nvim_win_get_cursor(0)[1] > initiating, "the jump list leads back")
end)

test(":GraphTrap explain tells of the line's failure, the log's, and one by its id", function()
  in_log(initiating)
  has(check.page("GraphTrap explain"), "# A CUDA graph capture ran out of memory")
  in_log(1)
  has(check.page("GraphTrap explain"), "# A CUDA graph capture ran out of memory")
  has(check.page("GraphTrap explain torch-oom"), "torch-oom")
end)

test(":GraphTrap toggle hides the marks and shows them", function()
  in_log()
  vim.cmd("GraphTrap toggle")
  equal(#check.marks(log), 0)
  vim.cmd("GraphTrap toggle")
  equal(#check.marks(log), 64)
end)

test(":GraphTrap verify copies the check; a line of Python is not typed into a terminal", function()
  in_log()
  vim.fn.setreg('"', "")
  has(check.page("GraphTrap verify"), "memory_snapshot", "After the last capture")
  has(vim.fn.getreg('"'), "memory_snapshot")
  vim.fn.setreg('"', "")
  vim.cmd("GraphTrap! verify")
  wait("the register", function()
    return vim.fn.getreg('"'):find("memory_snapshot", 1, true)
  end)
  equal(vim.bo.buftype, "")
end)

test(":GraphTrap! verify types a command line into a terminal", function()
  vim.cmd.enew()
  vim.api.nvim_buf_set_lines(0, 0, -1, true, { "[rank1]: RuntimeError: DataLoader worker (pid 512) is killed by signal: Bus error." })
  check.page("GraphTrap diagnose")
  vim.cmd.close()
  vim.cmd("GraphTrap! verify")
  wait("the command in a terminal", function()
    return vim.bo.buftype == "terminal" and text(0):find("df -h /dev/shm", 1, true)
  end)
  vim.cmd("bwipeout!")
  vim.cmd("bwipeout!")
end)

test("the code action copies the check, too", function()
  in_log(initiating)
  vim.fn.setreg('"', "")
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.title == "Copy the check command"
    end,
  })
  wait("the register", function()
    return vim.fn.getreg('"') ~= ""
  end)
end)

test("hover answers on the initiating line", function()
  in_log(initiating)
  vim.lsp.buf.hover()
  local float = wait("a hover", function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then
        return window
      end
    end
  end)
  has(text(vim.api.nvim_win_get_buf(float)), "ank 17", "pool")
  vim.api.nvim_win_close(float, true)
end)

test("a code lens above the failure opens the report", function()
  in_log(initiating)
  vim.lsp.codelens.refresh({ bufnr = log })
  local lens = wait("a lens", function()
    return vim.lsp.codelens.get(log)[1]
  end)
  equal(lens.command.title, "rank 17 started it; 63 collateral")
  vim.ui.select = function(choices, _, choose)
    choose(choices[1])
  end
  vim.lsp.codelens.run()
  wait("a report", function()
    return vim.b.graphtrap_page
  end)
  vim.cmd.close()
end)

test(":GraphTrap diagnose FILE reads from disk, and fills the quickfix list", function()
  in_log()
  vim.cmd("cd engine")
  local page = check.page("GraphTrap diagnose ../train.log")
  vim.cmd("cd ..")
  has(page, "Rank 17 started it")
  local first = vim.fn.getqflist()[1]
  equal({ first.bufnr, first.lnum, first.type }, { log, initiating, "E" })
end)

test(":GraphTrap diagnose FOLDER reads the files of all ranks as one failure", function()
  vim.fn.mkdir("ranks")
  local files = {}
  for _, line in ipairs(vim.api.nvim_buf_get_lines(log, 0, -1, false)) do
    local rank, rest = line:match("^%[rank(%d+)%]: ?(.*)")
    if rank then
      files[rank] = files[rank] or {}
      table.insert(files[rank], rest)
    end
  end
  for rank, lines in pairs(files) do
    vim.fn.writefile(lines, ("ranks/20261128040000_rank%s.log"):format(rank))
  end
  in_log()
  vim.fn.setqflist({}, "f")
  has(check.page("GraphTrap diagnose ranks"), "Rank 17 started it", "anks 0-16, 18-63")
  local first = vim.fn.getqflist()[1]
  equal(vim.fs.basename(vim.fn.bufname(first.bufnr)), "20261128040000_rank17.log")
  vim.cmd("edit ranks/20261128040000_rank3.log")
  vim.cmd("GraphTrap initiator")
  check.wait("the log of the failed rank", function()
    return vim.api.nvim_buf_get_name(0):find("rank17.log", 1, true)
  end)
  has(vim.api.nvim_get_current_line(), "OutOfMemoryError: CUDA out of memory")
end)

test("the words and their arguments are completed", function()
  equal(vim.fn.getcompletion("GraphTrap ", "cmdline"), {
    "cancel", "diagnose", "explain", "fix", "info", "initiator", "next", "report", "toggle", "verify",
  })
  equal(vim.fn.getcompletion("GraphTrap diagnose tra", "cmdline"), { "train.log", "train.py" })
  equal(vim.fn.getcompletion("GraphTrap explain cuda-graph", "cmdline"), { "cuda-graph-capture-oom" })
end)

test(":GraphTrap info is for bug reports and names no file", function()
  in_log()
  local info = check.page("GraphTrap info")
  has(info, "Neovim", "version")
  assert(not info:find("train.log", 1, true), info)
end)

test("what a word is not is said", function()
  check.refused("GraphTrap diagnoze", "diagnoze is none of cancel, diagnose")
  check.refused("GraphTrap diagnose missing.log", "missing.log does not exist")
  check.refused("GraphTrap cancel", "nothing is being diagnosed")
end)

test(":GraphTrap fix edits the source as it is in the buffer, and shows it", function()
  -- What is typed and not yet written moves the edit with it.
  vim.api.nvim_buf_set_lines(python, 0, 0, false, { "# typed" })
  in_log()
  vim.cmd("GraphTrap fix")
  wait("the source with a graph pool", function()
    return text(python):find("graph_pool_handle", 1, true)
  end)
  local source = text(python)
  assert(vim.startswith(source, "# typed\n"), source)
  assert(source:match("with torch%.cuda%.graph%(graph, pool=[%w_]+%):"), source)
  equal(select(2, source:gsub("graph_pool_handle", "")), 1)
  check.message("engine/graphs.py is changed and not written; u takes it back")
  wait("what must hold, above the edit", function()
    local space = vim.api.nvim_get_namespaces()["graphtrap-fix"]
    local mark = vim.api.nvim_buf_get_extmarks(python, space, 0, -1, { details = true })[1]
    return mark and vim.startswith(mark[4].virt_lines[1][1][1], "Safe if the graphs are replayed one at a time")
  end)
  equal({ vim.api.nvim_get_current_buf(), vim.bo.modified }, { python, true })
  vim.cmd("silent undo")
  assert(not text(python):find("graph_pool_handle", 1, true))
end)

test("the code action makes the same edit", function()
  in_log(initiating)
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return vim.startswith(action.title, "Share one graph pool")
    end,
  })
  wait("a graph pool in the source", function()
    return text(python):find("graph_pool_handle", 1, true)
  end)
end)

check.finish()
