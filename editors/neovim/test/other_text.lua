-- Text that is no file: a terminal in which a job really failed, what :make printed, a paste.

local check = require("check")
local test, wait, has, equal = check.test, check.wait, check.has, check.equal

vim.o.columns, vim.o.lines = 120, 40

local function only()
  vim.cmd("silent only")
end

local terminal

test("a terminal is copied to a log of its own, on which the lines are marked", function()
  vim.cmd.terminal("python3 " .. vim.env.JOB .. " 5")
  terminal = vim.api.nvim_get_current_buf()
  wait("the job's end", function()
    return check.text(terminal):find("[Process exited 1]", 1, true)
  end)
  vim.cmd("GraphTrap diagnose")
  wait("an answer", function()
    return vim.b.graphtrap_page
  end)
  has(check.text(0), "Rank 3 started it: a CUDA graph capture ran out of memory", "collective")
  local copy = vim.b.graphtrap_log
  equal(vim.api.nvim_buf_get_name(copy), "graphtrap://terminal/" .. terminal)
  vim.cmd.close()
  wait("marks on the copy", function()
    return #check.marks(copy) > 1
  end)
  equal(#check.marks(terminal), 0)

  vim.cmd("GraphTrap initiator")
  wait("the jump", function()
    return vim.api.nvim_get_current_line():find("OutOfMemoryError", 1, true)
  end)
  equal({ vim.api.nvim_get_current_buf(), vim.fn.getloclist(0)[1].bufnr }, { copy, copy })

  -- From the terminal itself, too; a second time it is the same copy.
  only()
  vim.api.nvim_set_current_buf(terminal)
  has(check.page("GraphTrap report"), "Rank 3 started it")
  vim.api.nvim_set_current_buf(terminal)
  check.page("GraphTrap diagnose")
  local copies = vim.tbl_filter(function(buf)
    return vim.startswith(vim.api.nvim_buf_get_name(buf), "graphtrap://terminal/")
  end, vim.api.nvim_list_bufs())
  equal(copies, { copy })
end)

test("of a terminal some lines can be asked about", function()
  only()
  vim.api.nvim_set_current_buf(terminal)
  local first
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    first = first or (line:find("[rank3]: Traceback", 1, true) and number)
  end
  local page = check.page(("%d,%dGraphTrap"):format(first, first + 40))
  has(page, "Rank 3 started it")
end)

test("what :make printed is diagnosed from the quickfix list", function()
  only()
  vim.cmd.enew()
  vim.o.makeprg = "python3 " .. vim.env.JOB .. " 5"
  vim.cmd("silent make!")
  has(check.page("GraphTrap diagnose quickfix"), "Rank 3 started it")
  only()
  vim.cmd("copen")
  equal(vim.bo.buftype, "quickfix")
  has(check.page("GraphTrap"), "Rank 3 started it")
end)

test("a paste without a name is diagnosed, whole or in part", function()
  only()
  vim.cmd.enew()
  local printed = vim.fn.readfile("train.log")
  local at = check.statement(printed)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.list_slice(printed, at - 12, at + 20))
  local paste = vim.api.nvim_get_current_buf()
  has(check.page("GraphTrap"), "Rank 17 started it")
  only()
  vim.api.nvim_set_current_buf(paste)
  has(check.page("2,33GraphTrap"), "Rank 17 started it")
end)

test("what is pasted into a new log is followed", function()
  only()
  vim.cmd("edit! pasted.log")
  local printed = vim.fn.readfile("train.log")
  local at = check.statement(printed)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.list_slice(printed, at - 12, at + 20))
  local error = wait("an error", function()
    return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })[1]
  end)
  equal(error.lnum + 1, 13)
end)

test("a silent rank is no accusation: the line is a warning", function()
  vim.fn.writefile({
    "[rank0]:[E1128 04:28:10.528000000 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=13369, OpType=ALLREDUCE, NumelIn=131072000, NumelOut=131072000, Timeout(ms)=600000) ran for 600063 milliseconds before timing out.",
  }, "slurm-17.out")
  vim.cmd("edit! slurm-17.out")
  local found = wait("a mark", function()
    return #check.marks(0) > 0 and check.marks(0)[1]
  end)
  equal(found[4].sign_hl_group, "GraphTrapSuspect")
  assert(found[4].virt_lines and not found[4].virt_lines_above, "on the first line the text stands below")
end)

check.finish()
