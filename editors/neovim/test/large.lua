-- A log of 30 MB where 1 MB is too large to be sent: read from disk with its progress, and cancelled.

local check = require("check")
local test, wait, has, equal = check.test, check.wait, check.has, check.equal

require("graphtrap").setup({ max_bytes = 1024 * 1024 })

local part = table.concat(vim.fn.readfile("train.log", "b"), "\n")
local file = assert(io.open("large.log", "wb"))
for _ = 1, 20 do
  file:write(part)
end
file:close()

test("it is not sent, and opening it starts nothing", function()
  vim.cmd.edit("large.log")
  equal(#vim.lsp.get_clients({ _uninitialized = true }), 0)
end)

test("the statusline tells how far the diagnosis is, and the answer comes", function()
  vim.cmd("GraphTrap! diagnose")
  wait("progress", function()
    return require("graphtrap").statusline():find("Diagnosing large.log", 1, true)
  end)
  wait("an answer", function()
    return #vim.fn.getqflist() > 0
  end)
  wait("the end of the progress", function()
    return require("graphtrap").statusline() == ""
  end)
end)

test("a diagnosis that goes on is cancelled, and the server works on", function()
  vim.fn.setqflist({}, "f")
  vim.cmd("GraphTrap! diagnose large.log")
  vim.wait(50)
  vim.cmd("GraphTrap cancel")
  has(check.page("GraphTrap diagnose train.log"), "Rank 17 started it")
  equal(vim.fn.getqflist({ nr = "$" }).nr, 1)
end)

check.finish()
